import { type Docs, ENGINE_SILENCE } from "../document/docs.ts";

/** `/admin/engine`, `/admin/flow-control`, `/admin/dead-letters` and `/admin/audit` in the API document. */

const flow = {
  bound: 10_000,
  boundBytes: 33_554_432,
  enqueueWaitMs: 5000,
  algorithm: "aimd",
  windowed: false,
  parameters: { initialLimit: 200, minLimit: 1, maxLimit: 1000, backoffRatio: 0.9, requestTimeoutMs: 10_000 },
  writeRate: null,
  limit: 200,
  inFlight: 0,
};
const path = { id: "1179603723715820" };
const letter = {
  commandId: path.id,
  intent: "ORDER:PLACE",
  state: "dead",
  attempts: 5,
  error: { code: "upstream_500", message: "answered 500: down" },
  acceptedAt: "2026-11-30T11:13:57.489Z",
  startedAt: "2026-11-30T11:15:30.002Z",
  finishedAt: "2026-11-30T11:15:30.120Z",
  tenant: "shop",
};

export const OPERATION = {
  session: {
    operationId: "getSession",
    headers: { 200: ["Cache-Control"] },
    examples: { admin: { summary: "The admin token's", status: 200, answer: { actor: "admin" } } },
  },
  pause: {
    operationId: "pauseEngine",
    problems: [...ENGINE_SILENCE],
    examples: {
      accepting: {
        summary: "The queue takes commands up to its bound",
        body: {},
        status: 200,
        answer: { paused: true, accepting: true },
      },
      refusing: {
        summary: "And takes none",
        body: { accept: false },
        status: 200,
        answer: { paused: true, accepting: false },
      },
    },
  },
  resume: {
    operationId: "resumeEngine",
    description: "Also ends a hold that a backend asked for.",
    problems: [...ENGINE_SILENCE],
    examples: { resumed: { summary: "It goes on", status: 200, answer: { paused: false, accepting: true } } },
  },
  flow: {
    operationId: "getFlowControl",
    problems: [...ENGINE_SILENCE],
    examples: { aimd: { summary: "As it is deployed", status: 200, answer: flow } },
  },
  changeFlow: {
    operationId: "changeFlowControl",
    description:
      "What is left out stays as it is. `parameters` of another algorithm are its defaults, where they are not given.",
    problems: [...ENGINE_SILENCE],
    examples: {
      bound: {
        summary: "A shorter queue, in which nobody waits for room",
        body: { bound: 100, enqueueWaitMs: 0 },
        status: 200,
        answer: { ...flow, bound: 100, enqueueWaitMs: 0 },
      },
      writes: {
        summary: "At most 50 writes a second",
        body: { writeRate: { perSecond: 50, burst: 100 } },
        status: 200,
        answer: { ...flow, writeRate: { perSecond: 50, burst: 100, warmUpSeconds: 0 } },
      },
    },
  },
  letters: {
    operationId: "listDeadLetters",
    problems: [...ENGINE_SILENCE],
    examples: {
      first: {
        summary: "The first page",
        query: { limit: 1 },
        status: 200,
        answer: { deadLetters: [letter], next: letter.commandId },
      },
    },
  },
  letter: {
    operationId: "getDeadLetter",
    problems: ["not_found", "conflict", ...ENGINE_SILENCE],
    examples: {
      one: { summary: "With its payload", path, status: 200, answer: { ...letter, payload: { n: 1 } } },
    },
  },
  removeLetter: {
    operationId: "deleteDeadLetter",
    problems: ["not_found", "conflict", ...ENGINE_SILENCE],
    examples: { one: { summary: "Give it up", path, status: 204 } },
  },
  redrive: {
    operationId: "redriveDeadLetter",
    description: "A backend that goes by ids knows it again. Its attempts begin anew.",
    problems: ["not_found", "conflict", ...ENGINE_SILENCE],
    examples: {
      one: {
        summary: "Send it again",
        path,
        status: 202,
        answer: {
          commandId: path.id,
          intent: "ORDER:PLACE",
          state: "running",
          attempts: 0,
          acceptedAt: "2026-11-30T11:13:57.489Z",
          startedAt: "2026-11-30T11:15:30.002Z",
        },
      },
    },
  },
  audit: {
    operationId: "listAudit",
    examples: {
      newest: {
        summary: "The newest two",
        query: { limit: 2 },
        status: 200,
        answer: {
          entries: [
            {
              id: 4,
              actor: "admin",
              action: "key.create",
              target: "tenant:acme",
              detail: { keyId: "key_rc3ukcpBNgUINY6q", name: "ci", expiresAt: null },
              at: "2026-11-30T11:13:57.411Z",
            },
            {
              id: 3,
              actor: "admin",
              action: "limits.put",
              target: "tenant:acme",
              detail: { requestsPerSecond: 5, burstSize: 10 },
              at: "2026-11-30T11:13:57.390Z",
            },
          ],
          next: 3,
        },
      },
    },
  },
} satisfies Record<string, Docs>;
