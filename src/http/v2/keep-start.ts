/**
 * Waits for an answer to be whole before anything of it goes on, as far as it may be kept. One that breaks off until
 * then has said nothing yet; one that is longer goes on as it comes.
 */

/**
 * @returns the whole body, or one that has begun with more than `bytesMax` bytes; null where there was none
 * @throws whatever the stream fails with: it broke off
 */
export async function keepStart(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<ReadableStream<Uint8Array> | null> {
  if (body === null) return null;
  const reader = body.getReader();
  const kept: Uint8Array[] = [];
  let done = false;
  for (let length = 0; !done && length <= bytesMax; ) {
    const read = await reader.read();
    done = read.done;
    if (read.value === undefined) continue;
    kept.push(read.value);
    length += read.value.byteLength;
  }
  return new ReadableStream({
    async pull(controller) {
      const next = kept.shift() ?? (done ? undefined : (await reader.read()).value);
      if (next === undefined) controller.close();
      else controller.enqueue(next);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
