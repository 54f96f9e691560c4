import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lockFolder } from "../../src/cli/folder-lock.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "headgate-lock-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("the lock of a state folder", () => {
  test("keeps a second gateway out while the first one lives", async () => {
    await writeFile(path.join(folder, "gateway.lock"), String(process.ppid));
    await expect(lockFolder(folder)).rejects.toThrow(`process ${process.ppid}`);
  });

  test("of a process that has died is taken over", async () => {
    await writeFile(path.join(folder, "gateway.lock"), "999999999");
    await expect(lockFolder(folder)).resolves.toBeTypeOf("function");
  });

  test("is given back", async () => {
    const release = await lockFolder(folder);
    await release();
    await expect(lockFolder(folder)).resolves.toBeTypeOf("function");
  });

  test("that holds nonsense is no lock", async () => {
    await writeFile(path.join(folder, "gateway.lock"), "");
    await expect(lockFolder(folder)).resolves.toBeTypeOf("function");
  });
});
