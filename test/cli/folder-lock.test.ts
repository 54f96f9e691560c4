import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lockFolder } from "../../src/cli/folder-lock.ts";

const NEVER = new AbortController().signal;

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "headgate-lock-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Another process that wants the lock, and keeps it until it is killed. */
async function contender(): Promise<{ said: string; kill: () => Promise<unknown> }> {
  const script = `
    const { lockFolder } = await import(${JSON.stringify(new URL("../../src/cli/folder-lock.ts", import.meta.url).href)});
    await lockFolder(${JSON.stringify(folder)}, new AbortController().signal).then(() => console.log("locked"), (e) => console.log(e.message));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = await once(child.stdout, "data");
  const kill = () => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    return ended;
  };
  return { said: String(said).trim(), kill };
}

describe("the lock of a state folder", () => {
  test("is one process's, however many ask at the same time; the others hear whose it is or that it is taken", async () => {
    const contenders = await Promise.all(Array.from({ length: 4 }, contender));
    const said = contenders.map((one) => one.said);
    await Promise.all(contenders.map(({ kill }) => kill()));
    expect(said.filter((line) => line === "locked")).toHaveLength(1);
    for (const line of said) if (line !== "locked") expect(line).toMatch(/^a gateway.* runs on .*--persist-to DIR$/);
  });

  test("names its holder, and is free once the holder was killed", async () => {
    const holder = await contender();
    await expect(lockFolder(folder, NEVER)).rejects.toThrow(/^a gateway \(process \d+\) runs on /);
    await holder.kill();
    (await lockFolder(folder, NEVER))();
  });

  test("is given back", async () => {
    const release = await lockFolder(folder, NEVER);
    await expect(lockFolder(folder, NEVER)).rejects.toThrow(`process ${process.pid}`);
    release();
    (await lockFolder(folder, NEVER))();
  });

  test("is not given while a runtime without its gateway still serves the folder, which is named", async () => {
    const stray = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "workerd serve"], { stdio: "ignore" });
    await once(stray, "spawn");
    await writeFile(path.join(folder, "workerd.pid"), String(stray.pid));
    const impatient = AbortSignal.abort();
    await expect(lockFolder(folder, impatient)).rejects.toThrow(`workerd (process ${stray.pid})`);
    const ended = once(stray, "exit");
    stray.kill("SIGKILL");
    await ended;
    (await lockFolder(folder, NEVER))();
  });

  test("is given where the runtime's id is another program's by now", async () => {
    await writeFile(path.join(folder, "workerd.pid"), String(process.ppid));
    (await lockFolder(folder, NEVER))();
  });

  test("of a folder that cannot be one says so, and what to do", async () => {
    const file = path.join(folder, "file");
    await writeFile(file, "");
    await expect(lockFolder(file, NEVER)).rejects.toThrow(/cannot write to .*--persist-to DIR/);
  });
});
