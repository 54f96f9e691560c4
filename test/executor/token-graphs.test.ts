/**
 * Random graphs of forks, joins, tasks and choices, against a reference that knows nothing of tokens: a block is a
 * sequence, a fork whose branches all must end, or a choice of one branch, and its tasks can be listed in order.
 */

import fc from "fast-check";
import { expect, it } from "vitest";
import { play } from "../../src/executor/embedded/token-game.ts";
import type { Token } from "../../src/executor/embedded/tokens.ts";
import { T0 } from "./harness.ts";
import { end, modelOf, type Part, parallel, start, task, xor } from "./models.ts";

type Block =
  | { readonly kind: "task" }
  | { readonly kind: "sequence"; readonly parts: readonly Block[] }
  | { readonly kind: "fork"; readonly parts: readonly Block[] }
  | { readonly kind: "choice"; readonly parts: readonly Block[]; readonly taken: number };

const blocks: fc.Arbitrary<Block> = fc.letrec<{ block: Block }>((tie) => {
  const some = (minLength: number) => fc.array(tie("block"), { minLength, maxLength: 3 });
  return {
    block: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constant<Block>({ kind: "task" }),
      fc.record({ kind: fc.constant("sequence" as const), parts: some(0) }),
      fc.record({ kind: fc.constant("fork" as const), parts: some(2) }),
      fc.record({ kind: fc.constant("choice" as const), parts: some(2), taken: fc.nat({ max: 2 }) }),
    ),
  };
}).block;

/** Builds the elements of a block. */
class Builder {
  readonly parts: Part[] = [];
  #count = 0;

  /** @returns the id to enter the block by */
  build(block: Block, next: string): string {
    const id = `n${++this.#count}`;
    switch (block.kind) {
      case "task":
        this.parts.push(task(id, [next]));
        return id;
      case "sequence":
        return block.parts.reduceRight((after, part) => this.build(part, after), next);
      case "fork": {
        this.parts.push(parallel(`${id}-join`, next));
        // A branch of its own for each, or two empty ones would be one flow.
        const branches = block.parts.map((part, index) => {
          this.parts.push(xor(`${id}-way${index}`, [[`${id}-join`, null]]));
          return this.build(part, `${id}-way${index}`);
        });
        this.parts.push(parallel(id, ...branches));
        return id;
      }
      case "choice": {
        this.parts.push(xor(`${id}-merge`, [[next, null]]));
        const taken = block.taken % block.parts.length;
        const ways = block.parts.map((part, index) => {
          const entry = this.build(part, `${id}-merge`);
          return [entry, index === taken ? "true" : "false"] as const;
        });
        this.parts.push(xor(id, ways));
        return id;
      }
      default:
        return block satisfies never;
    }
  }
}

/** How many tasks a block does, and how many are open at most at the same time. */
function measure(block: Block): { readonly done: number; readonly wide: number } {
  switch (block.kind) {
    case "task":
      return { done: 1, wide: 1 };
    case "sequence":
    case "fork": {
      const parts = block.parts.map(measure);
      const done = parts.reduce((sum, part) => sum + part.done, 0);
      const widths = parts.map(({ wide }) => wide);
      const wide = block.kind === "fork" ? widths.reduce((sum, one) => sum + one, 0) : Math.max(0, ...widths);
      return { done, wide };
    }
    case "choice": {
      const taken = block.parts[block.taken % block.parts.length];
      return taken === undefined ? { done: 0, wide: 0 } : measure(taken);
    }
    default:
      return block satisfies never;
  }
}

it("every instance of a graph of forks, joins and choices does each of its tasks once and ends without tokens", () => {
  fc.assert(
    fc.property(blocks, fc.infiniteStream(fc.nat()), (block, picks) => {
      const builder = new Builder();
      const entry = builder.build(block, "end");
      const model = modelOf(start(entry), ...builder.parts, end());
      const expected = measure(block);
      let keys = 0;
      const supplies = { nowMs: T0, nextKey: () => ++keys };
      const variables = () => ({});
      let played = play(model, { tokens: [], variables }, { kind: "started" }, supplies);
      const done: string[] = [];
      const seen = new Set<number>();
      while (played.tokens.length > 0) {
        const open = played.tokens.flatMap((token: Token) =>
          token.rest.kind === "job" ? [{ ...token, job: token.rest.job }] : [],
        );
        expect(played.tokens.every(({ rest }) => rest.kind === "job" || rest.kind === "join")).toBe(true);
        expect(open.length, "somebody can always go on").toBeGreaterThan(0);
        expect(open.length).toBeLessThanOrEqual(expected.wide);
        for (const { job } of open) seen.add(job);
        const picked = open[picks.next().value % open.length];
        if (picked === undefined) throw new Error("nothing to pick");
        done.push(picked.at);
        const event = { kind: "job-completed", job: picked.job, locals: {}, variables: {} } as const;
        played = play(model, { tokens: played.tokens, variables }, event, supplies);
      }
      expect(done.length, "each task once").toBe(expected.done);
      expect(new Set(done).size).toBe(done.length);
      expect(seen.size, "a job for each").toBe(expected.done);
    }),
    { numRuns: 300 },
  );
});
