import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { assertSoundDatabases } from "../../src/cli/state-files.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "headgate-state-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A sound database, made once and without the disk. */
const SOUND = (() => {
  const made = new DatabaseSync(":memory:");
  made.exec(`CREATE TABLE t (a TEXT); CREATE INDEX i ON t (a);
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 400)
    INSERT INTO t SELECT hex(randomblob(50)) || n FROM numbers`);
  const copy = path.join(mkdtempSync(path.join(tmpdir(), "headgate-sound-")), "copy.sqlite");
  made.exec(`VACUUM INTO '${copy}'`);
  const bytes = readFileSync(copy);
  rmSync(path.dirname(copy), { recursive: true });
  return bytes;
})();

function database(where: string): string {
  mkdirSync(path.join(folder, where), { recursive: true });
  const file = path.join(folder, where, "a.sqlite");
  writeFileSync(file, SOUND);
  return file;
}

describe.each(["d1/miniflare-D1DatabaseObject", "do/headgate-CommandEngine", "do/headgate-TenantLimiter"])(
  "%s",
  (where) => {
    test("a sound database passes, and so do an empty one and a folder that is not there", () => {
      assertSoundDatabases(path.join(folder, "none"));
      const file = database(where);
      assertSoundDatabases(folder);
      truncateSync(file, 0);
      assertSoundDatabases(folder);
    });

    test("a file that is no database is named, with what to do", () => {
      fc.assert(
        fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
          const file = database(where);
          writeFileSync(file, bytes);
          expect(() => assertSoundDatabases(folder)).toThrow(`${file} is no SQLite database; put a copy of it back`);
          rmSync(file);
        }),
        { numRuns: 20 },
      );
    });

    test("a database that was half written is named, wherever it ends", () => {
      fc.assert(
        fc.property(fc.double({ min: 0.001, max: 0.99, noNaN: true }), (part) => {
          const file = database(where);
          truncateSync(file, Math.ceil(SOUND.length * part));
          expect(() => assertSoundDatabases(folder)).toThrow(file);
          rmSync(file);
        }),
        { numRuns: 20 },
      );
    });
  },
);

test("pages that were overwritten are found in the databases that everything relies on", () => {
  const file = database("do/headgate-CommandEngine");
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xa5, 4096, 12_288));
  expect(() => assertSoundDatabases(folder)).toThrow(`${file} `);
});
