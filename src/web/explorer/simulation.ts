import { useEffect, useRef, useState } from "preact/hooks";
import type { Outcome } from "./outcome.ts";
import { runOf, type Settings } from "./settings.ts";

/**
 * Outcomes of settings, from the worker beside the page. While one is computed only the newest setting is remembered:
 * who moves a control through ten values is shown the last of them, and never an older one after a newer.
 */

export interface Question {
  readonly settings: Settings;
}
export type Answer = { readonly outcome: Outcome } | { readonly failed: string };

/** An outcome, and how long it was waited for, in milliseconds. */
export interface Timed {
  readonly outcome: Outcome;
  readonly tookMs: number;
}

/** As many as there are within reach of a few controls; some 30 kB each. */
const KNOWN_MAX = 200;

class Simulation {
  readonly #worker = new Worker(new URL("./run.worker.ts", import.meta.url), { type: "module" });
  readonly #known = new Map<string, Timed>();
  readonly #heard: (heard: Timed) => void;
  #isRunning = false;
  #sinceMs = 0;
  #next: Settings | null = null;

  constructor(heard: (heard: Timed) => void, failed: (why: string) => void) {
    this.#heard = heard;
    this.#worker.addEventListener("error", () => failed("the simulator could not be loaded"));
    this.#worker.addEventListener("messageerror", () => failed("the simulator’s answer could not be read"));
    this.#worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
      const tookMs = performance.now() - this.#sinceMs;
      if ("failed" in data) failed(data.failed);
      else this.#answered({ outcome: data.outcome, tookMs });
      this.#goOn();
    });
  }

  ask(settings: Settings): void {
    const known = this.#known.get(runOf(settings));
    if (known !== undefined) {
      this.#next = null;
      this.#heard(known);
    } else if (!this.#isRunning) this.#run(settings);
    else this.#next = settings;
  }

  end(): void {
    this.#worker.terminate();
  }

  #run(settings: Settings): void {
    this.#isRunning = true;
    this.#sinceMs = performance.now();
    this.#worker.postMessage({ settings } satisfies Question);
  }

  #answered(timed: Timed): void {
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(runOf(timed.outcome.settings), timed);
    this.#heard(timed);
  }

  #goOn(): void {
    this.#isRunning = false;
    const next = this.#next;
    this.#next = null;
    if (next !== null) this.ask(next);
  }
}

export interface Shown {
  /** Null until the first one is there. */
  readonly timed: Timed | null;
  /** Whether it is of other settings than those of the controls. */
  readonly stale: boolean;
  /** Why there is none; null: nothing is wrong. */
  readonly failed: string | null;
  retry(): void;
}

/** The outcome of the settings; until it is there, the one before. */
export function useOutcome(settings: Settings): Shown {
  const [timed, setTimed] = useState<Timed | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  const simulation = useRef<Simulation | null>(null);
  const run = runOf(settings);

  // A new attempt is a new worker: one that failed to load does not load later.
  useEffect(() => {
    const heard = (answer: Timed) => {
      setTimed(answer);
      setFailed(null);
    };
    const started = new Simulation(heard, setFailed);
    simulation.current = started;
    return () => started.end();
  }, [attempt]);
  useEffect(() => simulation.current?.ask(settings), [run, attempt]);

  return {
    timed,
    stale: timed === null || runOf(timed.outcome.settings) !== run,
    failed,
    retry: () => {
      setFailed(null);
      setAttempt(attempt + 1);
    },
  };
}
