import fc from "fast-check";
import { expect, test } from "vitest";
import { simulate } from "../../src/cli/simulate-run.ts";
import { outcomeOf } from "../../src/web/explorer/outcome.ts";
import { BOUND, commandLine, RATE, WORKERS } from "../../src/web/explorer/settings.ts";

const PREFIX = "npm run simulate -- ";

test("the command that the explorer shows gives the numbers that the explorer shows", () => {
  const settings = fc.record({
    rate: fc.integer(RATE),
    workers: fc.integer(WORKERS),
    bound: fc.option(fc.integer(BOUND)),
    quota: fc.boolean(),
    view: fc.constant("start" as const),
  });
  fc.assert(
    fc.property(settings, (asked) => {
      const command = commandLine(asked);
      expect(command.startsWith(PREFIX)).toBe(true);
      const { text, exitCode } = simulate([...command.slice(PREFIX.length).split(" "), "--json"]);
      const report = JSON.parse(text);
      const { figures } = outcomeOf(asked).chosen;
      expect(exitCode).toBe(0);
      expect(report).toMatchObject({
        accepted: figures.accepted,
        refused: figures.refused,
        peakDepth: figures.longestQueue,
        oldestWaitSeconds: figures.oldestWait,
        emptyAtSeconds: figures.emptyAt,
        retryAfter: figures.retryAfter,
      });
    }),
    { numRuns: 20 },
  );
});
