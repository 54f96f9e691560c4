/**
 * A first look at a document, before a parser sees it: is it well-formed XML, of a size and shape that the parser takes
 * in a short time? The parser is forgiving, and does quadratic work on some texts that are only wrong.
 *
 * Contract: whatever passes here, the parser reads to its end, seeing the same tags. Stricter than XML where the parser
 * is: names are ASCII, no white space around the `=` of an attribute, no references to characters above U+FFFF.
 * Left to others: what the elements mean.
 */

/** One deployment is one row, and a row of an object's SQLite holds 2 MB with everything else that is in it. */
export const BPMN_BYTES_MAX = 1024 * 1024;
/** Tags of the largest process that is taken (compile.ts), with its diagram and room to spare. */
export const TAGS_MAX = 30_000;
/** A drawn process nests about 10 deep. */
export const XML_DEPTH_MAX = 64;
/** Each tag that declares one costs the parser a copy of all. */
const NAMESPACES_MAX = 64;
/** Icons of element templates are attributes, and take tens of kilobytes. */
const ATTRIBUTE_LENGTH_MAX = 256 * 1024;
/** A list of references in one attribute is resolved in quadratic time. Expressions and icons have far fewer. */
const SPACES_PER_ATTRIBUTE_MAX = 2_000;
const ATTRIBUTES_PER_TAG_MAX = 100;

/** Fine, or why not, with the line where. */
export type Scanned = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string };

/** What XML calls white space; `\\s` is more. */
const SPACE = "[ \\t\\r\\n]";
const NAME = "[A-Za-z_][A-Za-z0-9_.-]*(?::[A-Za-z_][A-Za-z0-9_.-]*)?";
const OPENING = new RegExp(`<(${NAME})`, "y");
const CLOSING = new RegExp(`</(${NAME})${SPACE}*>`, "y");
const ATTRIBUTE = new RegExp(`${SPACE}+(${NAME})=(?:"([^"<]*)"|'([^'<]*)')`, "y");
const TAG_END = new RegExp(`${SPACE}*(/?)>`, "y");
/** All but tab, line ends, and what follows the space; halves of a pair are checked apart. */
const FORBIDDEN = /[^\t\n\r\u0020-\ufffd]/;
const REFERENCE = /&(?:(amp|lt|gt|quot|apos);|#([0-9]{1,7});|#x([0-9A-Fa-f]{1,6});)?/g;

/**
 * Looks a document through in one pass, in linear time and without recursion.
 *
 * @param xml as it came
 * @returns the text to parse (without a byte order mark), or what is wrong with it
 */
export function scan(xml: string): Scanned {
  // Characters first: a text with too many of them is not worth encoding.
  if (xml.length > BPMN_BYTES_MAX || new TextEncoder().encode(xml).byteLength > BPMN_BYTES_MAX) {
    return { ok: false, message: `the document is larger than ${BPMN_BYTES_MAX} bytes` };
  }
  const text = xml.startsWith("\ufeff") ? xml.slice(1) : xml;
  if (!text.isWellFormed() || FORBIDDEN.test(text)) {
    return { ok: false, message: "not XML: the text has characters that XML does not allow" };
  }
  const scanner = new Scanner(text);
  const problem = scanner.run();
  if (problem === null) return { ok: true, text };
  return { ok: false, message: `${problem} (line ${lineOf(text, scanner.at)})` };
}

class Scanner {
  readonly #text: string;
  readonly #open: string[] = [];
  readonly #namespaces = new Set<string>();
  #tags = 0;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): string | null {
    while (this.at < this.#text.length) {
      const problem = this.#text[this.at] === "<" ? this.#markup() : this.#characters();
      if (problem !== null) return problem;
    }
    if (this.#open.length > 0) return `not XML: <${this.#open.at(-1)}> is not closed`;
    return this.#tags === 0 ? "not XML: there is no element" : null;
  }

  #characters(): string | null {
    const next = this.#text.indexOf("<", this.at);
    const end = next === -1 ? this.#text.length : next;
    const piece = this.#text.slice(this.at, end);
    if (this.#open.length === 0 && piece.trim() !== "") return "not XML: text outside of the root element";
    const problem = badReference(piece);
    if (problem === null) this.at = end;
    return problem;
  }

  #markup(): string | null {
    if (this.#text.startsWith("<!--", this.at)) return this.#comment();
    if (this.#text.startsWith("<![CDATA[", this.at)) {
      if (this.#open.length === 0) return "not XML: text outside of the root element";
      return this.#skipPast("]]>", this.at + 9, "CDATA");
    }
    if (this.#text.startsWith("<!", this.at)) {
      return "a document type declaration (DOCTYPE) or entities are not accepted";
    }
    if (this.#text.startsWith("<?", this.at)) return this.#instruction();
    return this.#text[this.at + 1] === "/" ? this.#closingTag() : this.#openingTag();
  }

  #comment(): string | null {
    // The parser takes `<!-->` for a whole comment; XML does not.
    if (/^-?>/.test(this.#text.slice(this.at + 4, this.at + 6))) return "not XML: a malformed comment";
    return this.#skipPast("-->", this.at + 4, "a comment");
  }

  #instruction(): string | null {
    const end = this.#text.indexOf("?>", this.at);
    const instruction = end === -1 ? "" : this.#text.slice(this.at, Math.min(end, this.at + 200));
    const encoding = /^<\?xml\s.*\bencoding\s*=\s*["']([^"']*)/i.exec(instruction)?.[1];
    if (encoding !== undefined && !/^(utf-?8|us-ascii|ascii)$/i.test(encoding)) {
      return `the encoding ${encoding.slice(0, 40)} is not supported: use UTF-8`;
    }
    return this.#skipPast("?>", this.at, "a processing instruction");
  }

  #skipPast(mark: string, from: number, what: string): string | null {
    const end = this.#text.indexOf(mark, from);
    if (end === -1) return `not XML: ${what} is not closed`;
    this.at = end + mark.length;
    return null;
  }

  #closingTag(): string | null {
    CLOSING.lastIndex = this.at;
    const name = CLOSING.exec(this.#text)?.[1];
    if (name === undefined) return "not XML: a malformed closing tag";
    if (this.#open.pop() !== name) return `not XML: </${name.slice(0, 100)}> closes another element`;
    this.at = CLOSING.lastIndex;
    return null;
  }

  #openingTag(): string | null {
    OPENING.lastIndex = this.at;
    const name = OPENING.exec(this.#text)?.[1];
    if (name === undefined) return "not XML: a malformed tag";
    if (this.#open.length === 0 && this.#tags > 0) return "not XML: more than one root element";
    if (++this.#tags > TAGS_MAX) return `the document has more than ${TAGS_MAX} tags`;
    this.at = OPENING.lastIndex;
    const problem = this.#attributes();
    if (problem !== null) return problem;
    TAG_END.lastIndex = this.at;
    const end = TAG_END.exec(this.#text);
    if (end === null) return `not XML: a malformed tag <${name.slice(0, 100)}>`;
    this.at = TAG_END.lastIndex;
    if (end[1] === "") this.#open.push(name);
    return this.#open.length > XML_DEPTH_MAX ? `elements nest deeper than ${XML_DEPTH_MAX}` : null;
  }

  #attributes(): string | null {
    const names = new Set<string>();
    for (;;) {
      ATTRIBUTE.lastIndex = this.at;
      const found = ATTRIBUTE.exec(this.#text);
      if (found === null) return null;
      const [, name = "", double, single] = found;
      const value = double ?? single ?? "";
      if (names.has(name)) return `not XML: the attribute ${name.slice(0, 100)} is given twice`;
      names.add(name);
      const problem = names.size > ATTRIBUTES_PER_TAG_MAX ? "too many attributes" : this.#badValue(name, value);
      if (problem !== null) return problem;
      this.at = ATTRIBUTE.lastIndex;
    }
  }

  #badValue(name: string, value: string): string | null {
    if (value.length > ATTRIBUTE_LENGTH_MAX) return `the attribute ${name.slice(0, 100)} is too long`;
    if (value.length > SPACES_PER_ATTRIBUTE_MAX && countSpaces(value) > SPACES_PER_ATTRIBUTE_MAX) {
      return `the attribute ${name.slice(0, 100)} has too many words`;
    }
    if (name === "xmlns" || name.startsWith("xmlns:")) {
      this.#namespaces.add(`${name} ${value}`);
      if (this.#namespaces.size > NAMESPACES_MAX) return `more than ${NAMESPACES_MAX} namespaces are declared`;
    }
    return badReference(value);
  }
}

function countSpaces(value: string): number {
  let spaces = 0;
  for (let i = 0; i < value.length; i++) if (value.charCodeAt(i) <= 0x20) spaces++;
  return spaces;
}

/** The first reference that is not one of the five entities of XML, or a character's number that the parser can read. */
function badReference(text: string): string | null {
  if (!text.includes("&")) return null;
  for (const [whole, entity, decimal, hex] of text.matchAll(REFERENCE)) {
    if (entity !== undefined) continue;
    if (decimal === undefined && hex === undefined)
      return "an & that begins no known reference; entities are not accepted";
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number.parseInt(decimal, 10);
    if (code > 0xffff || FORBIDDEN.test(String.fromCharCode(code)) || (code >= 0xd800 && code <= 0xdfff)) {
      return `the character reference ${whole} is not accepted`;
    }
  }
  return null;
}

function lineOf(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i !== -1 && i < at; i = text.indexOf("\n", i + 1)) line++;
  return line;
}
