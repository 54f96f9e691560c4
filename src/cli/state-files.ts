import { accessSync, closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "./tool.ts";

/**
 * The databases of a state folder, looked at before workerd opens them: it would take a damaged one for a fault of ours,
 * and say neither which file it is nor what to do.
 */

/** Databases that everything relies on are read whole. A tenant's own are many, and are told by their head alone. */
const READ_WHOLE = /[\\/](?:d1|headgate-CommandEngine)[\\/]/;
/** Past this, in bytes, reading a whole database would hold up the start for seconds. */
const READ_WHOLE_BYTES_MAX = 256 * 1024 ** 2;

const MAGIC = "SQLite format 3\0";
const HEAD_BYTES = 100;

/** @throws Error with one line for people, which names the first file that is damaged and says what to do */
export function assertSoundDatabases(folder: string): void {
  for (const file of databasesIn(folder)) {
    const fault = faultOf(file);
    if (fault === null) continue;
    throw new Error(
      `${file} ${fault}; put a copy of it back or move it away (its contents are lost then), or choose another folder with --persist-to DIR`,
    );
  }
}

function databasesIn(folder: string): string[] {
  let entries: string[];
  try {
    entries = readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw new Error(`cannot read ${folder} (${messageOf(error)})`);
  }
  return entries.filter((name) => name.endsWith(".sqlite")).map((name) => path.join(folder, name));
}

function faultOf(file: string): string | null {
  try {
    if (!statSync(file).isFile()) return "is no file";
    accessSync(file, constants.R_OK | constants.W_OK);
    return headFault(file) ?? (READ_WHOLE.test(file) ? contentsFault(file) : null);
  } catch (error) {
    return `cannot be used (${messageOf(error)})`;
  }
}

/** A file of no bytes is an empty database. Pages that are missing may be in the log beside it, which SQLite applies. */
function headFault(file: string): string | null {
  const descriptor = openSync(file, "r");
  try {
    const { size } = fstatSync(descriptor);
    if (size === 0) return null;
    const head = Buffer.alloc(HEAD_BYTES);
    const read = readSync(descriptor, head, 0, HEAD_BYTES, 0);
    if (read < HEAD_BYTES || head.toString("latin1", 0, MAGIC.length) !== MAGIC) return "is no SQLite database";
    const pageBytes = head.readUInt16BE(16) === 1 ? 65_536 : head.readUInt16BE(16);
    const isCountValid = head.readUInt32BE(24) === head.readUInt32BE(92);
    const bytes = head.readUInt32BE(28) * pageBytes;
    if (isCountValid && size < bytes && !hasLog(file)) return `is cut off (${size} of ${bytes} bytes)`;
    return null;
  } finally {
    closeSync(descriptor);
  }
}

function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function contentsFault(file: string): string | null {
  if (statSync(file).size > READ_WHOLE_BYTES_MAX) return null;
  const database = new DatabaseSync(file);
  try {
    const found = database.prepare("PRAGMA quick_check(1)").get();
    const said = String(found?.quick_check);
    return said === "ok" ? null : `is damaged (${said.split("\n").join(" ")})`;
  } finally {
    database.close();
  }
}
