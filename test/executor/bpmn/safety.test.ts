import { describe, expect, test } from "vitest";
import { compile, ELEMENTS_MAX, FLOWS_MAX } from "../../../src/executor/embedded/bpmn/compile.ts";
import { BPMN_BYTES_MAX, TAGS_MAX, XML_DEPTH_MAX } from "../../../src/executor/embedded/bpmn/scan.ts";
import { around, condition, end, flow, processOf, start, task } from "./documents.ts";

/** Generous, as machines are shared; the quadratic texts of these tests would take minutes. */
const MS_MAX = 10_000;

function refusalOf(xml: string): string {
  const compiled = compile(xml);
  return compiled.ok ? "" : (compiled.faults[0]?.message ?? "");
}

/** Pieces until the document is nearly as large as it may be. */
function filled(piece: (index: number) => string): string {
  const pieces: string[] = [];
  for (let size = 2_000, i = 0; ; i++) {
    const next = piece(i);
    size += next.length;
    if (size > BPMN_BYTES_MAX) return pieces.join("");
    pieces.push(next);
  }
}

/** A process of many tasks whose jobs have this type. */
function tasksOfType(type: string): string {
  return processOf(Array.from({ length: 500 }, (_, i) => task(`t${i}`).replace("work", type)).join(""));
}

describe("what is not XML is refused in its own words", () => {
  test.each<[string, string, string]>([
    ["nothing", "", "not XML: there is no element (line 1)"],
    ["JSON", `{"a":1}`, "not XML: text outside of the root element (line 1)"],
    ["an open element", "<a>\n<b>", "not XML: <b> is not closed (line 2)"],
    ["crossed elements", "<a><b></a></b>", "not XML: </a> closes another element (line 1)"],
    ["two roots", "<a/><b/>", "not XML: more than one root element (line 1)"],
    ["an attribute without quotes", "<a b=c/>", "not XML: a malformed tag <a> (line 1)"],
    ["an attribute twice", `<a b="1" b="2"/>`, "not XML: the attribute b is given twice (line 1)"],
    ["an open comment", "<a><!-- </a>", "not XML: a comment is not closed (line 1)"],
    ["a comment that ends as it begins", "<a><!--></a><!-- --></a>", "not XML: a malformed comment (line 1)"],
    ["open CDATA", "<a><![CDATA[</a>", "not XML: CDATA is not closed (line 1)"],
    [
      "a document type",
      `<!DOCTYPE a><a/>`,
      "a document type declaration (DOCTYPE) or entities are not accepted (line 1)",
    ],
    [
      "entities that grow",
      `<!DOCTYPE l [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><a>&b;</a>`,
      "a document type declaration (DOCTYPE) or entities are not accepted (line 1)",
    ],
    [
      "an entity from a file",
      `<!DOCTYPE a [<!ENTITY f SYSTEM "file:///etc/passwd">]><a>&f;</a>`,
      "a document type declaration (DOCTYPE) or entities are not accepted (line 1)",
    ],
    ["an unknown entity", "<a>&f;</a>", "an & that begins no known reference; entities are not accepted (line 1)"],
    ["a reference to a control character", `<a b="&#0;"/>`, "the character reference &#0; is not accepted (line 1)"],
    ["a control character", "<a>\u0001</a>", "not XML: the text has characters that XML does not allow"],
    ["half a character", "<a>\ud800</a>", "not XML: the text has characters that XML does not allow"],
    [
      "another encoding",
      `<?xml version="1.0" encoding="UTF-16"?><a/>`,
      "the encoding UTF-16 is not supported: use UTF-8 (line 1)",
    ],
    ["another vocabulary", `<html><body/></html>`, "not BPMN: unexpected element <html> (line 1)"],
    [
      "BPMN of another namespace",
      `<definitions xmlns="urn:bpmn"/>`,
      "not BPMN: unexpected element <definitions> (line 1)",
    ],
    [
      "a prefix that is not declared",
      processOf(`${start}<q:a/>${end}`),
      "not XML: a prefix of a namespace is not declared, or too many problems",
    ],
  ])("%s", (_label, xml, message) => {
    expect(refusalOf(xml)).toBe(message);
  });
});

describe("what is too much is refused, in a short time", () => {
  test.each<[string, () => string, string]>([
    [
      "a text that is too long",
      () => " ".repeat(BPMN_BYTES_MAX + 1),
      `the document is larger than ${BPMN_BYTES_MAX} bytes`,
    ],
    [
      "a text that is too long in bytes",
      () => `<a>${"é".repeat(BPMN_BYTES_MAX / 2)}</a>`,
      `the document is larger than ${BPMN_BYTES_MAX} bytes`,
    ],
    [
      "a quarter of a million tags",
      () => processOf(filled(() => "<a/>")),
      `the document has more than ${TAGS_MAX} tags`,
    ],
    ["deep nesting", () => processOf("<bpmn:subProcess>".repeat(50_000)), `elements nest deeper than ${XML_DEPTH_MAX}`],
    [
      "elements",
      () => processOf(Array.from({ length: TAGS_MAX - 10 }, (_, i) => `<bpmn:startEvent id="s${i}"/>`).join("")),
      `the document has more than ${ELEMENTS_MAX} elements`,
    ],
    [
      "flows",
      () => processOf(filled((i) => flow(`f${i}`, "a", "b", condition("=a.b > 1")))),
      `the document has more than ${FLOWS_MAX} sequence flows`,
    ],
    ["attributes", () => processOf(`<bpmn:startEvent ${filled((i) => `a${i}="1" `)}/>`), "too many attributes"],
    [
      "unknown attributes",
      () =>
        processOf(
          filled(() => `<bpmn:startEvent ${Array.from({ length: 90 }, (_, j) => `zeebe:a${j}="1"`).join(" ")}/>`),
        ),
      "unknown attribute <zeebe:a0>",
    ],
    [
      "attributes of no namespace",
      () =>
        processOf(filled(() => `<bpmn:startEvent ${Array.from({ length: 90 }, (_, j) => `q:a${j}="1"`).join(" ")}/>`)),
      "missing namespace for prefix <q>",
    ],
    [
      "namespaces",
      () => processOf(filled((i) => `<bpmn:task xmlns:a${i}="u${i}"/>`)),
      "more than 64 namespaces are declared",
    ],
    ["texts in wrong places", () => processOf("<bpmn:task>x</bpmn:task>".repeat(18_000)), "unexpected body text <x>"],
    [
      "a long attribute",
      () => around(task("x").replace('id="x"', `id="x" name="${"n".repeat(300_000)}"`)),
      "the attribute name is too long",
    ],
    [
      "a long list of references",
      () => processOf(`<bpmn:startEvent id="a" incoming="${"a ".repeat(100_000)}"/>`),
      "the attribute incoming has too many words",
    ],
    [
      "many lists of references",
      () => processOf(filled((i) => `<bpmn:startEvent id="a${i}" incoming="${"a0 ".repeat(1_990)}"/>`)),
      "",
    ],
    [
      "references",
      () => processOf(`<bpmn:startEvent id="a">${filled(() => "<bpmn:incoming>a</bpmn:incoming>")}</bpmn:startEvent>`),
      "",
    ],
    ["open quotes", () => `<a b="${"x".repeat(BPMN_BYTES_MAX - 10)}`, "not XML: a malformed tag <a>"],
    ["spaces in a tag", () => `<a${" ".repeat(BPMN_BYTES_MAX - 10)}`, "not XML: a malformed tag <a>"],
    ["brackets", () => "<".repeat(BPMN_BYTES_MAX), "not XML: a malformed tag"],
    ["ampersands", () => `<a>${"&".repeat(BPMN_BYTES_MAX - 10)}`, "an & that begins no known reference"],
    ["comments", () => processOf(filled(() => "<!---->")), "the process has no startEvent"],
    [
      "long expressions",
      () => tasksOfType(`=${"1+".repeat(450)}1`),
      "the type of its job is not an expression: there are too many and too long expressions",
    ],
    [
      "broken expressions, deep in brackets",
      () => tasksOfType(`=${"[".repeat(31)}${"1 2 ".repeat(490)}`.slice(0, 1_000)),
      "the type of its job is not an expression: it cannot be read",
    ],
    [
      "mappings",
      () =>
        around(
          task(
            "x",
            `<zeebe:ioMapping>${filled((i) => `<zeebe:input source="=a${i}+b" target="c"/>`)}</zeebe:ioMapping>`,
          ),
        ),
      'the source of "c" is not an expression: there are too many and too long expressions',
    ],
  ])("%s", (_label, make, message) => {
    const xml = make();
    const before = performance.now();
    expect(refusalOf(xml).startsWith(message)).toBe(true);
    expect(performance.now() - before).toBeLessThan(MS_MAX);
  });

  test("a large process that is right is taken", () => {
    const tasks = Array.from(
      { length: ELEMENTS_MAX - 1 },
      (_, i) => task(`t${i + 1}`) + flow(`f${i}`, `t${i}`, `t${i + 1}`),
    );
    const compiled = compile(processOf(`<bpmn:startEvent id="t0"/>${tasks.join("")}`));
    expect(compiled.ok && Object.keys(compiled.models[0]?.elements ?? {})).toHaveLength(ELEMENTS_MAX);
  });
});

test("attributes with the names of an object's own members do nothing", () => {
  const hostile = `__proto__="a" constructor="b" toString="c" get="d" hasOwnProperty="e"`;
  compile(
    around(
      `<bpmn:serviceTask id="x" ${hostile}><bpmn:extensionElements><o:p xmlns:o="urn:o" ${hostile}/></bpmn:extensionElements></bpmn:serviceTask>`,
    ),
  );
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(refusalOf(around(task("x").replace('id="x"', `id="x" constructor="b"`)))).toBe(
    "unknown attribute <constructor>",
  );
});
