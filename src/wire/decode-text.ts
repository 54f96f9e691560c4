/** Bytes as text, by the charset that their sender names; never with U+FFFD in place of what was sent. */

export type Decoded =
  /** `contentType` is that of the text once it is sent on, which is as UTF-8. */
  | { readonly kind: "text"; readonly text: string; readonly contentType: string }
  | { readonly kind: "unreadable"; readonly why: string };

/** The parameter of a media type (RFC 9110, 8.3.1): a token, or a quoted string. */
const CHARSET = /(;\s*charset\s*=\s*)("[^"]*"|[^\s;"]+)/i;
/** As much of a charset's name as is told. */
const LABEL_LENGTH_MAX = 40;

/**
 * @param contentType as the header says it; without a charset it is UTF-8
 * @returns `unreadable` where no such charset is known, or the bytes are none of its text
 */
export function decodeText(bytes: Uint8Array, contentType: string): Decoded {
  const label = (CHARSET.exec(contentType)?.[2] ?? "utf-8").replaceAll('"', "").trim();
  const named = JSON.stringify(label.slice(0, LABEL_LENGTH_MAX));
  const decoder = decoderOf(label);
  if (decoder === null) return { kind: "unreadable", why: `is in the charset ${named}, which is not known here` };
  try {
    const text = decoder.decode(bytes);
    return { kind: "text", text, contentType: contentType.replace(CHARSET, "$1utf-8") };
  } catch {
    return { kind: "unreadable", why: `has bytes that are no text in the charset ${named}` };
  }
}

function decoderOf(label: string): TextDecoder | null {
  try {
    return new TextDecoder(label, { fatal: true, ignoreBOM: false });
  } catch {
    return null;
  }
}
