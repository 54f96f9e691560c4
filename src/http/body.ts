import { countMembers, JSON_DEPTH_MAX, type Json, parseJson } from "../core/json.ts";
import { repeatedMember, scanJson } from "../core/json-scan.ts";
import type { FieldFault, Problem } from "../core/problem.ts";
import { readBounded } from "../wire/read-bounded.ts";

/** Request bodies: bounded before they are in memory, bounded in depth before they are parsed. */

/** `text`: the JSON that the value was read from. */
export type Read<T> =
  | { readonly ok: true; readonly value: T; readonly text?: string }
  | { readonly ok: false; readonly problem: Problem };

/**
 * Reads a JSON body. An absent body reads as `undefined`, so that a route whose fields are all optional may be called
 * without one. It is decoded here and not by the platform, which puts U+FFFD for what is not UTF-8.
 *
 * @param bytesMax the largest body, in bytes; a longer one is refused without being read to its end
 */
export async function readJson(request: Request, bytesMax: number): Promise<Read<unknown>> {
  const read = await readBytes(request, bytesMax);
  return read.ok ? readText(decodeUtf8(read.value)) : read;
}

/** The body of any kind. */
export async function readBytes(request: Request, bytesMax: number): Promise<Read<Uint8Array<ArrayBuffer>>> {
  const encoded = encodedProblem(request);
  if (encoded !== null) return refuse(encoded);
  const declared = declaredLength(request);
  if (declared > bytesMax) return refuse(tooLarge(bytesMax));
  // Who has said a length cannot send more than that; a stream is read piece by piece, which takes longer.
  try {
    const bytes =
      declared > 0 ? new Uint8Array(await request.arrayBuffer()) : await readBounded(request.body, bytesMax);
    return bytes === null ? refuse(tooLarge(bytesMax)) : { ok: true, value: bytes };
  } catch {
    return refuse(BROKE_OFF);
  }
}

/** A body is read as it is sent: one that is compressed would be taken for something else. */
function encodedProblem(request: Request): Problem | null {
  const encoding = request.headers.get("Content-Encoding");
  if (encoding === null || /^[\s,]*(identity[\s,]*)*$/i.test(encoding)) return null;
  const detail = `The body has the Content-Encoding ${JSON.stringify(encoding.slice(0, ENCODING_LENGTH_MAX))}. Send it as it is.`;
  return { code: "unsupported_media_type", detail };
}

/** As much of a header as is told. */
const ENCODING_LENGTH_MAX = 40;

/** In bytes; 0 where nothing is sent, or nothing is said of how much. */
function declaredLength(request: Request): number {
  return Number(request.headers.get("Content-Length") ?? 0);
}

/** @param text null: it was not UTF-8 */
function readText(text: string | null): Read<unknown> {
  if (text === null) return refuse(badBody("the body is not UTF-8"));
  if (text === "") return { ok: true, value: undefined };
  const scan = scanJson(text);
  if (scan.depth > JSON_DEPTH_MAX) return refuse(badBody(`the body nests deeper than ${JSON_DEPTH_MAX} levels`));
  let value: Json;
  try {
    value = parseJson(text, scan);
  } catch {
    return refuse(badBody("the body is not JSON"));
  }
  if (scan.members === countMembers(value)) return { ok: true, value, text };
  // Which of the two is meant is not for a parser to choose, and the backend's may choose the other.
  return refuse(invalidFields([{ path: repeatedMember(text) ?? "", message: "is there twice" }], "body"));
}

/** Text of bytes that are said to be UTF-8; null when they are not. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** A body that cannot be taken. */
export function refuse(problem: Problem): Read<never> {
  return { ok: false, problem };
}

function tooLarge(bytesMax: number): Problem {
  return { code: "payload_too_large", detail: `The body may have at most ${bytesMax} bytes.` };
}

/** What is wrong with a body as a whole. */
export function badBody(message: string): Problem {
  return { code: "invalid_request", detail: `Cannot read the request: ${message}.`, errors: [{ path: "", message }] };
}

const BROKE_OFF = badBody("the body broke off");

/** A problem that names each faulty field. `at` says where the fields are: `body`, `query` or `path`. */
export function invalidFields(errors: readonly FieldFault[], at: string): Problem {
  const [first] = errors;
  const named = first === undefined ? "it is not of the right form" : `${first.path || at}: ${first.message}`;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return { code: "invalid_request", detail: `The ${at} is not valid: ${named}${more}.`, errors };
}
