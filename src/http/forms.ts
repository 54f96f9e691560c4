import { badBody, decodeUtf8, type Read, readBytes, refuse } from "./body.ts";

/** Bodies that are forms, read into plain values that a schema can check. Bounded before they are in memory. */

/** A file of a multipart form. */
export interface FormFile {
  readonly name: string;
  readonly content: string;
}

/** `application/x-www-form-urlencoded` as an object of texts. A field that comes twice is a fault (RFC 6749, 3.2). */
export async function readForm(request: Request, bytesMax: number): Promise<Read<Record<string, string>>> {
  if (typeOf(request) !== "application/x-www-form-urlencoded") {
    return refuse(badBody("the body must be application/x-www-form-urlencoded"));
  }
  const read = await readBytes(request, bytesMax);
  if (!read.ok) return read;
  const text = decodeUtf8(read.value);
  if (text === null) return refuse(badBody("the body is not UTF-8"));
  const fields = [...new URLSearchParams(text)];
  const value = Object.fromEntries(fields);
  const isRepeated = Object.keys(value).length < fields.length;
  return isRepeated ? refuse(badBody("a field of the form is given more than once")) : { ok: true, value };
}

/** `multipart/form-data` as lists of its parts by name: a text, or a file whose content is text. */
export async function readMultipart(
  request: Request,
  bytesMax: number,
): Promise<Read<Record<string, (string | FormFile)[]>>> {
  if (typeOf(request) !== "multipart/form-data") return refuse(badBody("the body must be multipart/form-data"));
  const read = await readBytes(request, bytesMax);
  if (!read.ok) return read;
  const parts = await partsOf(read.value, request.headers.get("Content-Type") ?? "");
  if (parts === null) return refuse(badBody("the body is no multipart form of its boundary"));
  const byName = new Map<string, (string | FormFile)[]>();
  for (const [part, value] of parts) {
    const content = typeof value === "string" ? value : await contentOf(value);
    if (content === null) return refuse(badBody(`the part ${JSON.stringify(part.slice(0, 64))} is not UTF-8`));
    byName.set(part, [...(byName.get(part) ?? []), content]);
  }
  return { ok: true, value: Object.fromEntries(byName) };
}

async function partsOf(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<FormData | null> {
  try {
    return await new Response(bytes, { headers: { "Content-Type": type } }).formData();
  } catch {
    return null;
  }
}

async function contentOf(file: File): Promise<FormFile | null> {
  const content = decodeUtf8(new Uint8Array(await file.arrayBuffer()));
  return content === null ? null : { name: file.name, content };
}

function typeOf(request: Request): string {
  return (request.headers.get("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}
