import { vi } from "vitest";
import type { CommandView } from "../../src/core/command.ts";
import { accepted, type Engine, newEngine } from "../durable/support.ts";

/** A backend made of answers: what the engine's object sends arrives here, on virtual time. */

/** Alarms go by the real clock: one that is set on a clock that is behind it rings at once, and one ahead of it never. */
export const FUTURE_MS = Date.UTC(2040, 0, 1);

export interface Delivery {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  readonly id: string;
  readonly atMs: number;
}

export interface Backend {
  /** Everything that has arrived, in order. */
  readonly deliveries: Delivery[];
  /** How the next ones are answered. */
  answer: (delivery: Delivery, signal: AbortSignal) => Response | Promise<Response>;
}

/** Stands in for the network until the test ends. */
export function newBackend(answer: Backend["answer"] = () => Response.json({ done: true })): Backend {
  const backend: Backend = { deliveries: [], answer };
  vi.stubGlobal("fetch", async (request: Request) => {
    const { method, url, headers } = request;
    const id = headers.get("Idempotency-Key") ?? "";
    const delivery = { method, url, headers, body: await request.text(), id, atMs: Date.now() };
    backend.deliveries.push(delivery);
    const { signal } = request;
    return await Promise.race([backend.answer(delivery, signal), aborted(signal)]);
  });
  return backend;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")));
  });
}

/** A job that takes its time, as the engine's clock has it. */
export function takes(ms: number, response: () => Response): Promise<Response> {
  return new Promise((resolve) => setTimeout(() => resolve(response()), ms));
}

/** An engine with this bound, in front of the backend. */
export async function upstreamEngine(bound = 100): Promise<Engine> {
  const engine = newEngine();
  await engine.changeFlow({ bound, enqueueWaitMs: 0 });
  return engine;
}

export function place(engine: Engine, n: number, tenant?: string): Promise<CommandView> {
  return accepted(engine, "ORDER:PLACE", { n }, tenant);
}
