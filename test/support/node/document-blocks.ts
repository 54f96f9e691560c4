/** The code blocks of a Markdown document, in the order in which a reader runs them. */

export interface Block {
  readonly document: string;
  /** The line of the opening fence, from 1. */
  readonly line: number;
  /** What follows the fence: `sh`, `ts`, `js`, `xml`, …; empty for output and pictures. */
  readonly language: string;
  /** What is run. A program without an import goes on with the program before it, which is a part of it then. */
  readonly text: string;
  /** The block without a language that follows directly: what the document says is printed. */
  readonly output: string | null;
  /** The file that the block is, where the paragraph before it begins with the file's name in backticks. */
  readonly file: string | null;
}

const FENCE = /^```(\w*)\s*$/;
const NAMED = /^`([\w.-]+\.\w+)`/;

/** @param document its name, for messages; @param markdown its text */
export function readBlocks(document: string, markdown: string): Block[] {
  const lines = markdown.split("\n");
  const blocks: Block[] = [];
  let paragraph = "";
  for (let at = 0; at < lines.length; at++) {
    const language = FENCE.exec(lines[at] ?? "")?.[1];
    if (language === undefined) {
      if (lines[at] !== "" && (at === 0 || lines[at - 1] === "")) paragraph = lines[at] ?? "";
      continue;
    }
    const end = endOf(lines, at);
    const output = outputAfter(lines, end);
    const own = lines.slice(at + 1, end).join("\n");
    const before = blocks.findLast((block) => isProgram(block))?.text ?? "";
    const text = isProgram({ language }) && !/^import /m.test(own) ? `${before}\n${own}` : own;
    blocks.push({ document, line: at + 1, language, text, output, file: NAMED.exec(paragraph)?.[1] ?? null });
    at = end;
  }
  return blocks;
}

/** Whether Node runs it. */
export function isProgram({ language }: Pick<Block, "language">): boolean {
  return language === "ts" || language === "js";
}

/** The index of the fence that closes the block. */
function endOf(lines: readonly string[], start: number): number {
  const end = lines.findIndex((line, at) => at > start && line.startsWith("```"));
  if (end === -1) throw new Error(`the block of line ${start + 1} has no end`);
  return end;
}

function outputAfter(lines: readonly string[], end: number): string | null {
  const next = lines.findIndex((line, at) => at > end && line !== "");
  if (next === -1 || FENCE.exec(lines[next] ?? "")?.[1] !== "") return null;
  return lines.slice(next + 1, endOf(lines, next)).join("\n");
}

/**
 * Whether a program printed what its document shows. `…` stands for anything, and white space may differ.
 *
 * @param shown the document's block; @param printed all output of the program
 */
export function isPrinted(shown: string, printed: string): boolean {
  const parts = shown.trim().split("…").map(anySpace);
  return new RegExp(parts.join("[\\s\\S]*?")).test(printed);
}

function anySpace(text: string): string {
  return text
    .split(/\s+/)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .join("\\s*");
}

/** Refusals and faults in what was printed that the document does not show: `HTTP/1.1 4xx`, or a problem's status. */
export function surprises(printed: string, shown: string | null): string[] {
  const found = [...printed.matchAll(/HTTP\/1\.1 [45]\d\d|"status":[45]\d\d/g)].map(([text]) => text);
  return found.filter((text) => !shown?.includes(text));
}
