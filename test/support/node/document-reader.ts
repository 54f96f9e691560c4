import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Block, isProgram } from "./document-blocks.ts";
import { type ServerProcess, startGatewayProcess, startServerProcess, temporaryFolder } from "./process.ts";

/**
 * A reader of one document, who runs its blocks in order in a shell and a folder of his own. Addresses of the documents
 * are replaced by those of the gateway and the backend that run for the test.
 */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const GATEWAY = "http://127.0.0.1:8787";
const BACKEND = "http://127.0.0.1:8790";
const PROGRAM_MS_MAX = 60_000;
const run = promisify(execFile);

export class DocumentReader {
  readonly #folder: string;
  readonly #removeFolder: () => Promise<void>;
  readonly #shell: Shell;
  #gatewayUrl: string;
  /** Started by the document; the shared gateway is not among them. */
  #gateway: ServerProcess | null = null;
  #backend: ServerProcess | null = null;

  private constructor(state: Awaited<ReturnType<typeof temporaryFolder>>, gatewayUrl: string) {
    this.#folder = state.folder;
    this.#removeFolder = state.remove;
    this.#gatewayUrl = gatewayUrl;
    this.#shell = new Shell(state.folder);
  }

  /** @param gatewayUrl the gateway that `npm ci && npm start` stands for */
  static async begin(gatewayUrl: string): Promise<DocumentReader> {
    const state = await temporaryFolder();
    await linkPackages(state.folder);
    return new DocumentReader(state, gatewayUrl);
  }

  async end(): Promise<void> {
    await Promise.all([this.#shell.end(), this.#gateway?.kill(), this.#backend?.kill()]);
    await this.#removeFolder();
  }

  /** @returns what the block printed; throws when it fails */
  async run({ language, text, file }: Block): Promise<string> {
    if (isProgram({ language })) return this.#runProgram(text, language);
    if (language !== "sh") {
      if (file !== null) await writeFile(path.join(this.#folder, file), text);
      return "";
    }
    if (text.startsWith("npm start")) return this.#startGateway(await wordsOf(this.#here(text)));
    if (text.startsWith("npm run provider")) return this.#startBackend(await wordsOf(text));
    return this.#shell.run(this.#here(text).replace(/^npm run (burst|watch)(?: --)?/gm, this.#toolHere));
  }

  #here(text: string): string {
    const here = text.replaceAll(GATEWAY, this.#gatewayUrl).replaceAll("/tmp/", `${this.#folder}/`);
    return here.replaceAll(BACKEND, this.#backend?.url ?? BACKEND);
  }

  /** `watch` runs until Ctrl-C, so here it ends after a second. */
  readonly #toolHere = (_all: string, tool: string) =>
    `npm run ${tool} -- --url ${this.#gatewayUrl}${tool === "watch" ? " --seconds 1" : ""}`;

  /** The gateway before is stopped, as the document says; port and state folder are the test's. */
  async #startGateway(words: readonly string[]): Promise<string> {
    const vars = valuesOf(words, "--var");
    const others = words.slice(3).filter((word) => word.startsWith("--") && !SERVE_OPTIONS.includes(word));
    if (others.length > 0) throw new Error(`npm start does not take ${others.join(" ")}`);
    await this.#gateway?.kill();
    this.#gateway = null;
    this.#gateway = await startGatewayProcess(path.join(this.#folder, `state-${crypto.randomUUID()}`), vars);
    this.#gatewayUrl = this.#gateway.url;
    // A reader's gateway keeps its address, and the variable of the document with it.
    await this.#shell.run(`if [ -n "\${H:-}" ]; then H=${this.#gatewayUrl}; fi`);
    return "";
  }

  async #startBackend(words: readonly string[]): Promise<string> {
    await this.#backend?.kill();
    this.#backend = await startServerProcess("provider", [...words.slice(4), "--port", "0"]);
    return "";
  }

  /** A Worker gets one request. */
  async #runProgram(text: string, language: string): Promise<string> {
    const file = path.join(this.#folder, `program.${language}`);
    await writeFile(file, this.#here(text));
    const isWorker = text.includes("export default");
    const start = isWorker ? path.join(this.#folder, "worker-call.mjs") : file;
    if (isWorker) await writeFile(start, workerCall(file, this.#gatewayUrl));
    const options = { cwd: this.#folder, timeout: PROGRAM_MS_MAX };
    const { stdout, stderr } = await run(process.execPath, ["--no-warnings", start], options);
    return stdout + stderr;
  }
}

/** Gives a folder the packages that programs of the documents import. */
export async function linkPackages(folder: string): Promise<void> {
  const camunda = "@camunda8/orchestration-cluster-api";
  await mkdir(path.join(folder, "node_modules/@camunda8"), { recursive: true });
  await symlink(ROOT, path.join(folder, "node_modules/headgate"));
  await symlink(path.join(ROOT, "node_modules", camunda), path.join(folder, "node_modules", camunda));
}

const SERVE_OPTIONS = ["--port", "--persist-to", "--var"];

const valuesOf = (words: readonly string[], option: string) =>
  words.flatMap((word, at) => (word === option ? [words[at + 1] ?? ""] : []));

/** The words of a command, as a shell splits them. */
async function wordsOf(command: string): Promise<string[]> {
  const { stdout } = await run("bash", ["-c", `printf '%s\\0' ${command}`]);
  return stdout.split("\0").slice(0, -1);
}

/** A module that sends one request to a Worker whose service binding leads to the gateway. */
const workerCall = (file: string, gatewayUrl: string) => `
  import worker from ${JSON.stringify(file)};
  const HEADGATE = { fetch: (url, init) => fetch(url.replace("https://headgate", ${JSON.stringify(gatewayUrl)}), init) };
  const response = await worker.fetch(new Request("https://app.example/"), { HEADGATE, HEADGATE_KEY: "hg_dev_free" });
  console.log("HTTP/1.1 " + response.status);`;

/** One bash for all blocks of a document: variables stay. The first command that fails ends it. */
class Shell {
  readonly #child: ChildProcess;
  readonly #folder: string;
  #blocks = 0;

  constructor(folder: string) {
    this.#folder = folder;
    this.#child = spawn("bash", ["--noprofile", "--norc"], { cwd: folder, detached: true });
    this.#child.stdin?.write(`set -eo pipefail; npm() { command npm --prefix ${ROOT} "$@"; }\n`);
  }

  async run(text: string): Promise<string> {
    const file = path.join(this.#folder, `block-${this.#blocks++}.sh`);
    const mark = `end-of-${crypto.randomUUID()}`;
    await writeFile(file, text);
    return new Promise((resolve, reject) => {
      let printed = "";
      const look = (chunk: unknown) => {
        printed += String(chunk);
        if (printed.includes(mark)) finish(() => resolve(printed.replace(mark, "")));
      };
      const failed = (code: number | null) => finish(() => reject(new Error(`exit code ${code}:\n${printed}`)));
      const finish = (then: () => void) => {
        this.#child.stdout?.off("data", look);
        this.#child.off("exit", failed);
        then();
      };
      this.#child.stdout?.on("data", look);
      this.#child.once("exit", failed);
      if (this.#child.exitCode !== null) failed(this.#child.exitCode);
      this.#child.stdin?.write(`source ${file} </dev/null 2>&1\necho ${mark}\n`);
    });
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.pid === undefined) return;
    const exited = new Promise((resolve) => this.#child.once("exit", resolve));
    process.kill(-this.#child.pid, "SIGKILL");
    await exited;
  }
}
