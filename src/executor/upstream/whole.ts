import { type JsonObject, type JsonText, objectOf } from "../../core/json.ts";

/**
 * Requests that are handed on whole: method, path and body as they came, and the answer as it comes. They travel like
 * every command; what makes them whole is among their headers, under names that no header can have.
 */

/** What is kept of such a request beside its body. */
export interface WholeRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Delivered twice it does no more than once. */
  readonly repeatable: boolean;
}

const METHOD = ":method";
const PATH = ":path";
const REPEATABLE = ":repeatable";

/** Headers of a command that say so. */
export function wholeHeaders({ method, path, repeatable }: WholeRequest, contentType: string): Record<string, string> {
  const marks = { [METHOD]: method, [PATH]: path, [REPEATABLE]: String(repeatable) };
  return contentType === "" ? marks : { ...marks, "content-type": contentType };
}

/** The payload of such a command: its body, which is text. */
export function wholePayload(body: string): JsonObject {
  return { body };
}

/** What a command's headers say; null for one that goes by the table of intents. */
export function wholeOf(headers: Readonly<Record<string, string>>): WholeRequest | null {
  const { [METHOD]: method, [PATH]: path, [REPEATABLE]: repeatable } = headers;
  if (method === undefined || path === undefined) return null;
  return { method, path, repeatable: repeatable === "true" };
}

/** The body of such a command. */
export function wholeBody(payload: JsonText): string {
  const { body } = objectOf(payload);
  return typeof body === "string" ? body : "";
}

/** Headers of a command that are meant for the backend. */
export function realHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(":")));
}

/** Where a path of the surface is at the backend: its address may be given with or without the first segment. */
export function wholeUrl(base: string, path: string): string {
  return base.replace(/\/(v2\/?)?$/, "") + path;
}

/** Whose command it is. Ids may have any characters, and a header may not. An address is never spelt as a tenant. */
export function ownerHeader(owner: string): [string, string] {
  const [kind, name] = [owner.slice(0, owner.indexOf(":")), owner.slice(owner.indexOf(":") + 1)];
  return [kind === "tenant" ? "X-Headgate-Tenant" : "X-Headgate-Address", encodeURIComponent(name)];
}
