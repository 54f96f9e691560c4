import { expect, test } from "vitest";
import { runKilledInstances } from "../support/node/killed-instances.ts";

// Process instances over the engine's own surface, through a power cut. `npm run killed` does it with more of both.

test("instances that were under way when every process died complete once, each of their tasks too", async () => {
  const { broken, ends } = await runKilledInstances(60, 1);
  expect(broken).toEqual([]);
  expect(ends).toMatchObject({ dead: 0, cancelled: 0 });
});
