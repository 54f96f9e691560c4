import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { runtimeFileOf } from "./folder-lock.ts";

/**
 * Which program Miniflare starts as workerd: `workerd.sh`, which sees to it that workerd ends with this process and
 * says its process id. Windows has no shell for it, and ends nothing there.
 *
 * @param folder of the state that workerd serves
 */
export function tieRuntimeToThisProcess(folder: string): void {
  if (process.platform === "win32") return;
  process.env.HEADGATE_WORKERD ??= process.env.MINIFLARE_WORKERD_PATH ?? workerdPath();
  process.env.HEADGATE_WORKERD_PID = runtimeFileOf(folder);
  process.env.MINIFLARE_WORKERD_PATH = fileURLToPath(new URL("workerd.sh", import.meta.url));
}

/** Miniflare's own workerd: the package's main module is the path. */
function workerdPath(): string {
  const ofMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  const { default: program }: { default: string } = ofMiniflare("workerd");
  return program;
}
