import { describe, expect, test } from "vitest";
import { readJson } from "../../src/http/body.ts";

const BYTES_MAX = 40;
const quoted = (...bytes: number[]) => [0x22, ...bytes, 0x22];

/** @param said whether the body's length is told beforehand, as most clients do */
function read(bytes: readonly number[], said: boolean) {
  const headers: Record<string, string> = said ? { "Content-Length": String(bytes.length) } : {};
  // As the platform makes the bodies of real requests: what JavaScript makes is read by other code.
  const { readable: body, writable } = said ? new FixedLengthStream(bytes.length) : new TransformStream();
  const writer = writable.getWriter();
  const send = async () => {
    // In pieces that end within characters.
    for (const byte of bytes) await writer.write(new Uint8Array([byte]));
    await writer.close();
  };
  // Who refuses a body does not read it to its end.
  void send().catch(() => undefined);
  return readJson(new Request("https://gate.test/", { method: "POST", headers, body }), BYTES_MAX);
}

describe.each([
  ["of a said length", true],
  ["of a length that nobody said", false],
])("a body %s", (_, said) => {
  const utf8 = (text: string) => [...new TextEncoder().encode(text)];

  test.each<[string, readonly number[], unknown]>([
    ["nothing", [], undefined],
    ["an object", utf8('{"cost":1}'), { cost: 1 }],
    ["characters of one to four bytes", utf8('"aäह😀"'), "aäह😀"],
    ["the character that stands for what cannot be read, sent as itself", utf8('"a\ufffd"'), "a\ufffd"],
    ["a mark of its byte order first", [0xef, 0xbb, 0xbf, ...utf8("7")], 7],
    ["such a mark, and that character", [0xef, 0xbb, 0xbf, ...utf8('"\ufffd"')], "\ufffd"],
    ["as much as may be", utf8(`"${"x".repeat(BYTES_MAX - 2)}"`), "x".repeat(BYTES_MAX - 2)],
  ])("reads: %s", async (_name, bytes, value) => {
    expect(await read(bytes, said)).toMatchObject({ ok: true, value });
  });

  test.each<[string, readonly number[]]>([
    ["a byte that begins no character", quoted(0xff)],
    ["a byte that only goes on with one", quoted(0x80)],
    ["a character of two bytes, cut", quoted(0xc3)],
    ["a character of three bytes, cut", quoted(0xe2, 0x82)],
    ["a character of four bytes, cut after the second", quoted(0xf0, 0x9f)],
    ["a character of four bytes, cut after the third", quoted(0xf0, 0x9f, 0x98)],
    ["one written longer than it is", quoted(0xc0, 0xaf)],
    ["half of a surrogate pair", quoted(0xed, 0xa0, 0x80)],
    ["beside the character that stands for such", quoted(0xef, 0xbf, 0xbd, 0xff)],
    ["cut at the end", [0x22, 0x61, 0xc3]],
  ])("is refused where it is not UTF-8: %s", async (_name, bytes) => {
    const detail = "Cannot read the request: the body is not UTF-8.";
    expect(await read(bytes, said)).toMatchObject({ ok: false, problem: { code: "invalid_request", detail } });
  });

  test.each<[string, readonly number[], string]>([
    ["not JSON", utf8("{"), "invalid_request"],
    ["deeper than anybody needs", utf8("[".repeat(BYTES_MAX)), "invalid_request"],
    ["a byte too long", utf8("1".repeat(BYTES_MAX + 1)), "payload_too_large"],
  ])("is refused: %s", async (_name, bytes, code) => {
    expect(await read(bytes, said)).toMatchObject({ ok: false, problem: { code } });
  });
});
