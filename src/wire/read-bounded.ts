/** Reading a body of unknown length without ever holding more of it than was agreed. For requests and for answers. */

/**
 * @param body null reads as nothing
 * @returns the whole body; null when it is longer than `bytesMax`: the rest is then never read
 * @throws whatever the stream fails with: it broke off
 */
export async function readBounded(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    // Leaving the loop cancels the stream.
    if (length > bytesMax) return null;
    chunks.push(chunk);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
