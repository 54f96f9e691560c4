/// <reference path="./bpmn-moddle.d.ts" />
/**
 * The one file that knows the parser (`bpmn-moddle` with `zeebe-bpmn-moddle`): text in, a tree of elements with narrow
 * types out.
 *
 * Contract: the text has passed scan.ts. Synchronous: the parser does its work before it gives back its promise, which
 * only carries the tree; the tree is taken from the handler of the root instead, because a command is carried out
 * without waiting.
 */

import { BpmnModdle, type Reader, type ReaderContext, type RootHandler } from "bpmn-moddle";
import zeebe from "zeebe-bpmn-moddle/resources/zeebe.json" with { type: "json" };

/** For each warning the parser counts lines from the beginning of the text. More are not worth the time. */
const WARNINGS_MAX = 20;

/** An element that the meta model knows (`bpmn:…`, `zeebe:…`), or a foreign one, of which only the type is known. */
export interface Node {
  readonly $type: string;
  readonly $descriptor: { readonly isGeneric?: boolean; readonly properties?: readonly { readonly name: string }[] };
  readonly $parent?: unknown;
  /** Attributes that the meta model does not know. */
  readonly $attrs?: Readonly<Record<string, string>>;
}

export interface BpmnDocument {
  readonly definitions: Node;
  /** What the parser could not make sense of. */
  readonly problems: readonly { readonly elementId: string | null; readonly message: string }[];
  /** References whose target is not there: element → property → id. */
  readonly dangling: ReadonlyMap<unknown, ReadonlyMap<string, string>>;
}

export type Read =
  | { readonly ok: true; readonly document: BpmnDocument }
  | { readonly ok: false; readonly messages: readonly string[] };

/** Made by the first document: most isolates never see one. It keeps nothing of a document. */
let moddle: BpmnModdle | undefined;

/** Reads a document. Never throws. */
export function read(text: string): Read {
  const handlers: RootHandler[] = [];
  let ended = false;
  try {
    moddle ??= new BpmnModdle({ zeebe });
    moddle
      .fromXML(text, "bpmn:Definitions", {
        lax: true,
        handler(typeName) {
          const reader: Reader = Object.getPrototypeOf(this);
          const handler = reader.handler.call(this, typeName);
          stopAtWarnings(handler);
          const end = handler.handleEnd;
          handler.handleEnd = function (this: RootHandler) {
            ended = true;
            end.call(this);
          };
          handlers.push(handler);
          return handler;
        },
      })
      .catch(() => undefined);
  } catch {
    return { ok: false, messages: ["not BPMN: the parser cannot read the document"] };
  }
  const [root] = handlers;
  const warnings = root?.context?.warnings ?? [];
  const isLost = (message: string) => message.startsWith("unresolved reference");
  const problems = warnings
    // How a diagram is drawn does not matter.
    .filter(({ message, element }) => !isLost(message) && (!isNode(element) || /^(bpmn|zeebe):/.test(element.$type)))
    .map(({ message, element }) => ({ elementId: nearestId(element), message: tidied(message) }));
  const definitions = root?.element;
  if (!isNode(definitions) || definitions.$type !== "bpmn:Definitions") {
    return { ok: false, messages: [`not BPMN: ${problems[0]?.message ?? "the root element is not bpmn:definitions"}`] };
  }
  // Where the parser gives up, the elements that follow are missing.
  if (!ended) {
    return {
      ok: false,
      messages: [
        ...problems.map(({ message }) => message),
        "not XML: a prefix of a namespace is not declared, or too many problems",
      ],
    };
  }
  const dangling = new Map<unknown, Map<string, string>>();
  for (const { message, element, property, value } of warnings) {
    if (!isLost(message)) continue;
    const of = dangling.get(element) ?? new Map<string, string>();
    dangling.set(element, of.set((property ?? "").replace(/^.*:/, ""), String(value)));
  }
  return { ok: true, document: { definitions, problems, dangling } };
}

/** Makes the parser give up when it has warned too often. References are resolved at the end, and cost little. */
function stopAtWarnings(handler: RootHandler): void {
  let held: ReaderContext | undefined;
  let count = 0;
  Object.defineProperty(handler, "context", {
    get: () => held,
    set(context: ReaderContext) {
      held = context;
      context.addWarning = (warning) => {
        if (count > WARNINGS_MAX) throw new Error("too many problems");
        if (!warning.message.startsWith("unresolved reference")) count++;
        context.warnings.push(warning);
      };
    },
  });
}

/** `unparsable content <bpmn:foo> detected ⏎ line: 1 ⏎ … nested error: …` on one line, the parser's lines from 1. */
function tidied(message: string): string {
  const found = /^unparsable content (.*?)\s*detected\s+line: (\d+)\s+column: \d+\s+nested error: ([\s\S]*)$/.exec(
    message,
  );
  if (found === null) return cut(message);
  const [, content = "", line = "", error = ""] = found;
  return cut(`${error}${content === "" || error.includes("<") ? "" : ` at ${content}`} (line ${Number(line) + 1})`);
}

function cut(message: string): string {
  const line = message.replace(/\s+/g, " ").trim();
  return line.length <= 200 ? line : `${line.slice(0, 200)}…`;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "$type" in value && "$descriptor" in value;
}

/** A text property, undefined when it is not given. Numbers and booleans of the meta model as text. */
export function textOf(node: Node, property: string): string | undefined {
  const value = own(node, property);
  if (typeof value === "boolean" || typeof value === "number") return String(value);
  return typeof value === "string" ? value : undefined;
}

/** An element in a property: a child, or what a reference points to; undefined when it is not given or not there. */
export function nodeOf(node: Node, property: string): Node | undefined {
  const value = own(node, property);
  return isNode(value) ? value : undefined;
}

/** The elements of a property that may have several. */
export function nodesOf(node: Node, property: string): Node[] {
  const value = own(node, property);
  return Array.isArray(value) ? value.filter(isNode) : [];
}

export function idOf(node: Node): string | null {
  return textOf(node, "id") ?? null;
}

/** The names of what is given at an element, empty lists left out. */
export function givenAt(node: Node): string[] {
  const names = (node.$descriptor.properties ?? []).map(({ name }) => name.replace(/^bpmn:|^zeebe:/, ""));
  return names.filter((name) => {
    const value = own(node, name);
    return value !== undefined && !(Array.isArray(value) && value.length === 0);
  });
}

/** Of an element, or the closest around it that has one. */
function nearestId(element: unknown): string | null {
  for (let at = element; isNode(at); at = at.$parent) {
    const id = at.$descriptor.isGeneric === true ? null : idOf(at);
    if (id !== null) return id;
  }
  return null;
}

/** Only what is the element's own: its prototype holds the defaults, and methods. */
function own(node: Node, property: string): unknown {
  return Object.getOwnPropertyDescriptor(node, property)?.value;
}
