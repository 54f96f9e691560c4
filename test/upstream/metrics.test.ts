import { evictDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { writeMetrics } from "../../src/telemetry/exposition.ts";
import { allFamilies } from "../../src/telemetry/families.ts";
import { advance, again, calls, type Engine } from "../durable/support.ts";
import { scraped } from "../support/prometheus.ts";
import { FUTURE_MS, newBackend, place, upstreamEngine } from "./support.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: FUTURE_MS });
  vi.spyOn(Math, "random").mockReturnValue(0.5);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

async function metrics(engine: Engine) {
  const report = await calls(engine).status({});
  const seen = scraped(writeMetrics(allFamilies({ engines: [report], usage: null }, false), "prometheus"));
  const commands = (outcome: string) => seen.value("headgate_commands_total", { outcome });
  return {
    letters: seen.value("headgate_dead_letters"),
    ...Object.fromEntries(["accepted", "succeeded", "dead"].map((outcome) => [outcome, commands(outcome)])),
  };
}

test("dead commands that are sent again leave the list, and no counter goes back, restarts or not", async () => {
  const backend = newBackend(() => new Response("down", { status: 500 }));
  const engine = await upstreamEngine();
  const { commandId } = await place(engine, 1);
  await place(engine, 2);
  expect(await metrics(engine)).toEqual({ letters: 0, accepted: 2, succeeded: 0, dead: 0 });
  for (let second = 0; second < 600; second += 5) await advance(engine, 5_000);
  expect(await metrics(engine)).toEqual({ letters: 2, accepted: 2, succeeded: 0, dead: 2 });

  backend.answer = () => Response.json({});
  await calls(engine).redrive(commandId);
  await advance(engine, 120_000);
  expect(await metrics(engine)).toEqual({ letters: 1, accepted: 2, succeeded: 1, dead: 2 });
  await evictDurableObject(engine);
  expect(await metrics(again(engine))).toEqual({ letters: 1, accepted: 2, succeeded: 1, dead: 2 });
  const [letter] = await calls(again(engine)).deadLetters(10, null);
  expect(await calls(again(engine)).dropDeadLetter(letter?.commandId ?? "")).toBe(true);
  expect(await metrics(again(engine))).toEqual({ letters: 0, accepted: 2, succeeded: 1, dead: 2 });
});
