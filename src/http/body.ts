import { type JsonObject, jsonDepth } from "../core/json.ts";
import type { FieldFault, Problem } from "../core/problem.ts";

/** Request bodies: bounded before they are in memory, bounded in depth before they are parsed. */

/** How deeply a body may nest. Far above any real payload, far below what a recursive reader survives. */
export const JSON_DEPTH_MAX = 64;

export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

/**
 * Reads a JSON body. An absent body reads as `undefined`, so that a route whose fields are all optional may be called
 * without one.
 *
 * @param bytesMax the largest body, in bytes; a longer one is refused without being read to its end
 */
export async function readJson(request: Request, bytesMax: number): Promise<Read<unknown>> {
  const declared = Number(request.headers.get("Content-Length") ?? 0);
  if (declared > bytesMax) return refuse(tooLarge(bytesMax));
  const bytes = await readBounded(request.body, bytesMax).catch(() => "broken" as const);
  if (bytes === "broken") return refuse(badBody("the body broke off"));
  if (bytes === null) return refuse(tooLarge(bytesMax));
  if (bytes.byteLength === 0) return { ok: true, value: undefined };
  const text = decodeUtf8(bytes);
  if (text === null) return refuse(badBody("the body is not UTF-8"));
  if (jsonDepth(text) > JSON_DEPTH_MAX) return refuse(badBody(`the body nests deeper than ${JSON_DEPTH_MAX} levels`));
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return refuse(badBody("the body is not JSON"));
  }
}

async function readBounded(body: ReadableStream<Uint8Array> | null, bytesMax: number): Promise<Uint8Array | null> {
  if (body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    // Leaving the loop cancels the stream: the rest is never read.
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

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return null;
  }
}

function refuse(problem: Problem): Read<never> {
  return { ok: false, problem };
}

function tooLarge(bytesMax: number): Problem {
  return { code: "payload_too_large", detail: `The body may have at most ${bytesMax} bytes.` };
}

function badBody(message: string): Problem {
  return { code: "invalid_request", detail: `Cannot read the request: ${message}.`, errors: [{ path: "", message }] };
}

/** A problem that names each faulty field. `at` says where the fields are: `body`, `query` or `path`. */
export function invalidFields(errors: readonly FieldFault[], at: string): Problem {
  const [first] = errors;
  const named = first === undefined ? "it is not of the right form" : `${first.path || at}: ${first.message}`;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return { code: "invalid_request", detail: `The ${at} is not valid: ${named}${more}.`, errors };
}

/** True for `{…}`: what a JSON body of ours always is. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
