import { onParentEnd } from "./process-table.ts";

/**
 * How every command line tool starts and ends: usage for `--help`, one line for what is wrong and exit code 1, and one
 * signal that says when somebody wants it to end.
 */

/**
 * Runs a tool with this process's arguments, and ends the process with its exit code.
 *
 * @param usage what `--help` prints
 * @param read makes settings of the arguments, and throws an Error with one line for people
 * @param run what the tool does; its exit code comes once everything that it started has ended. `interrupted` aborts
 *   with the first SIGINT (Ctrl-C), SIGTERM or SIGHUP, or once the npm that runs the tool has ended; a second signal
 *   kills the process
 */
export async function runTool<Settings extends object>(
  usage: string,
  read: (argv: readonly string[]) => Settings | "help",
  run: (settings: Settings, interrupted: AbortSignal) => Promise<number>,
): Promise<void> {
  endWithReader();
  try {
    const settings = read(process.argv.slice(2));
    if (settings === "help") {
      console.log(usage);
      return;
    }
    process.exit(await run(settings, interruption()));
  } catch (error) {
    console.error(`headgate: ${messageOf(error)}`);
    process.exit(1);
  }
}

function interruption(): AbortSignal {
  const controller = new AbortController();
  const abort = () => {
    for (const signal of SIGNALS) process.off(signal, abort);
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, abort);
  // A signal to npm alone may end it without a word to what it runs.
  if (process.env.npm_lifecycle_event !== undefined) onParentEnd(abort);
  // Miniflare, for one, ends the process in the midst of a signal, before anything could be stopped in good order.
  process.on("newListener", (event, listener: () => void) => {
    if (isSignal(event)) queueMicrotask(() => process.off(event, listener));
  });
  return controller.signal;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function isSignal(event: string | symbol): event is (typeof SIGNALS)[number] {
  return SIGNALS.some((signal) => signal === event);
}

/** Whoever reads the output may leave before the end (`| head`), which is no fault. */
function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(0);
      throw error;
    });
  }
}

/** What went wrong, in one line. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** @returns after so many milliseconds (less than none is none), or as soon as the signal aborts */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(0, ms));
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}

/** @returns once the signal has aborted */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
