/**
 * Finds the end of an HTTP/1.1 answer on a connection that carries one at a time, and as little else as it can: most
 * answers come in one piece, and are then looked at where they lie.
 */

export interface WholeAnswer {
  readonly status: number;
  /** Head and body as they came. */
  readonly bytes: Buffer;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("\r\n0\r\n\r\n");
const EMPTY = Buffer.alloc(0);

export class AnswerReader {
  #before: Buffer = EMPTY;

  /**
   * @returns the answer, once it is whole; null until then
   * @throws Error when what comes is not HTTP/1.1, or says no length
   */
  push(chunk: Buffer): WholeAnswer | null {
    const bytes = this.#before.length === 0 ? chunk : Buffer.concat([this.#before, chunk]);
    const answer = wholeAnswer(bytes);
    this.#before = answer === null ? bytes : EMPTY;
    return answer;
  }
}

function wholeAnswer(bytes: Buffer): WholeAnswer | null {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const head = bytes.toString("latin1", 0, headEnd);
  if (!head.startsWith("HTTP/1.1 ")) throw new Error(`not an answer: ${head.slice(0, 80)}`);
  const status = Number(head.slice(9, 12));
  const bodyAt = headEnd + HEAD_END.length;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return bytes.length >= bodyAt + Number(length) ? { status, bytes } : null;
  if (status === 204 || status === 304) return { status, bytes };
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error(`an answer without a length: ${head}`);
  // The end of the head is the end of the line that a first chunk, or the last one, begins with.
  return bytes.indexOf(LAST_CHUNK, headEnd + 2) >= 0 ? { status, bytes } : null;
}
