import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { fromTasks } from "../../../src/executor/embedded/bpmn/tasks.ts";
import { checkTimer, dueMs } from "../../../src/executor/embedded/bpmn/timer.ts";

const NOW = Date.UTC(2024, 0, 31, 12);

function due(type: "duration" | "date", text: string, variables: JsonObject = {}): number | string {
  const value = text.startsWith("=") ? { feel: text.slice(1) } : { literal: text };
  const found = dueMs({ type, value }, variables, NOW);
  return found.ok ? found.atMs : found.message;
}

describe("a duration counts from now", () => {
  test.each<[string, number]>([
    ["PT5S", 5_000],
    ["PT0S", 0],
    ["PT0.25S", 250],
    ["PT1,5S", 1_500],
    ["PT1H30M", 5_400_000],
    ["P1DT12H", 129_600_000],
    ["P2W", 1_209_600_000],
    ["PT36H", 129_600_000],
    ["-PT5S", -5_000],
    ["P1M", Date.UTC(2024, 1, 29, 12) - NOW],
    ["P1Y", Date.UTC(2025, 0, 31, 12) - NOW],
    ["P1Y2M3DT4H5M6S", Date.UTC(2025, 2, 34, 16, 5, 6) - NOW],
    ['=duration("PT5S")', 5_000],
    ['="PT" + string(seconds) + "S"', 7_000],
    ["=wait", 60_000],
  ])("%s", (text, ms) => {
    expect(due("duration", text, { seconds: 7, wait: "PT1M" })).toBe(NOW + ms);
  });

  test.each(["", "P", "PT", "5s", "PT5", "P1.5Y", "P1.5DT1H", "P1H", "PT1S ago", "P-1D", "P1D2W", "PT1H1H"])(
    "%s is none",
    (text) => {
      expect(due("duration", text)).toBe(`"${text}" is not a duration (ISO 8601)`);
      expect(checkTimer("duration", text)).not.toBeNull();
    },
  );

  test.each(["P999999999999Y", "P999999999999D"])("%s is beyond all clocks", (text) => {
    expect(due("duration", text)).toBe(`"${text}" is too long`);
  });
});

describe("a date is a moment", () => {
  test.each<[string, number]>([
    ["2030-01-02T03:04:05Z", Date.UTC(2030, 0, 2, 3, 4, 5)],
    ["2030-01-02T03:04Z", Date.UTC(2030, 0, 2, 3, 4)],
    ["2030-01-02T03:04:05.678Z", Date.UTC(2030, 0, 2, 3, 4, 5, 678)],
    ["2030-01-02T03:04:05+02:00", Date.UTC(2030, 0, 2, 1, 4, 5)],
    ["2030-01-02T03:04:05-0530", Date.UTC(2030, 0, 2, 8, 34, 5)],
    ["2030-01-02T03:04:05+01:00[Europe/Berlin]", Date.UTC(2030, 0, 2, 2, 4, 5)],
    ["0099-01-01T00:00:00Z", Date.UTC(1999, 0, 1) - (Date.UTC(2000, 0, 1) - Date.parse("0100-01-01T00:00:00Z"))],
    ['=date and time("2030-01-02T03:04:05Z")', Date.UTC(2030, 0, 2, 3, 4, 5)],
    ["=at", Date.UTC(2030, 0, 1)],
  ])("%s", (text, atMs) => {
    expect(due("date", text, { at: "2030-01-01T00:00:00Z" })).toBe(atMs);
  });

  test.each([
    "",
    "tomorrow",
    "2030-01-02",
    "2030-01-02T03:04:05",
    "2030-02-30T00:00:00Z",
    "2030-13-01T00:00:00Z",
    "2030-01-01T24:00:00Z",
    "2030-01-01T00:60:00Z",
    "2030-01-01T00:00:00+99:00",
  ])("%s is none", (text) => {
    expect(due("date", text)).toBe(`"${text}" is not a date and time with an offset (ISO 8601)`);
  });
});

test("an expression that gives no text is told with its value", () => {
  expect(due("duration", "=missing")).toBe("the timer's duration is null");
  expect(due("date", "=5")).toBe("the timer's date is 5");
  expect(due("duration", "=1 +")).toBe('"1 +" is not an expression: it breaks off at its end');
});

test("a chain of tasks is a process from start to end, under ids that never change", () => {
  const model = fromTasks("chain", [
    { type: "a", retries: 3 },
    { type: "b", retries: 1 },
  ]);
  expect(
    Object.values(model.elements).map(({ id, kind, outgoing }) => [id, kind, outgoing.map(({ target }) => target)]),
  ).toEqual([
    ["start", "start-event", ["task-1"]],
    ["task-1", "service-task", ["task-2"]],
    ["task-2", "service-task", ["end"]],
    ["end", "end-event", []],
  ]);
  expect(model).toMatchObject({ processId: "chain", start: "start" });
  expect(model.elements["task-2"]).toMatchObject({ jobType: { literal: "b" }, retries: { literal: "1" } });
});
