import { describe, expect, test } from "vitest";
import { mayHaveActed, silenceOf } from "../../src/durable/silence.ts";
import { failureOf, ObjectUnreachable } from "../../src/durable/stubs.ts";

/** What an object throws across a call: an exception of its own code. */
function thrown(message: string): unknown {
  return Object.assign(new Error(message), { remote: true });
}

function failure(message: string): ObjectUnreachable {
  const failed = failureOf(thrown(message));
  if (!(failed instanceof ObjectUnreachable)) throw new Error(`${message} is taken for a bug`);
  return failed;
}

describe("an engine whose disk fails", () => {
  test.each([
    ["database is locked: SQLITE_BUSY", "unavailable", false],
    ["database table is locked: SQLITE_LOCKED", "unavailable", false],
    ["attempt to write a readonly database: SQLITE_READONLY", "unavailable", false],
    ["file is not a database: SQLITE_NOTADB", "unavailable", false],
    ["disk I/O error: SQLITE_IOERR", "unavailable", true],
    ["database disk image is malformed: SQLITE_CORRUPT (extended: SQLITE_CORRUPT_INDEX)", "unavailable", true],
    ["database or disk is full: SQLITE_FULL", "storage_full", false],
    ["the writer failed: Error: database is locked: SQLITE_BUSY", "unavailable", false],
  ])("%s is 503 %s with a time to come back, and no bug", (message, code, acted) => {
    const failed = failure(message);
    expect(silenceOf(failed)).toMatchObject({ code, retryAfterSeconds: expect.any(Number) });
    expect(mayHaveActed(failed)).toBe(acted);
  });

  test("a fault of a statement is a bug of ours, and no fault of the disk", () => {
    const error = thrown("UNIQUE constraint failed: commands.sequence: SQLITE_CONSTRAINT");
    expect(failureOf(error)).toBe(error);
  });
});
