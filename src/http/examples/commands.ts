import { AT_THE_DOOR, type Docs, ENGINE_SILENCE } from "../document/docs.ts";

/** `/v1/commands` and `/v1/queue` in the API document. */

const ID = "1179603723715811";
const path = { id: ID };
const accepted = { statusUrl: `/v1/commands/${ID}`, queuedAhead: 0 };
const create = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "order", variables: { total: 42 } } };

const ended = {
  commandId: ID,
  intent: "PROCESS_INSTANCE:CREATE",
  state: "succeeded",
  attempts: 1,
  result: { processInstanceKey: "1179603723715812" },
  acceptedAt: "2026-11-30T11:13:57.308Z",
  startedAt: "2026-11-30T11:13:57.308Z",
  finishedAt: "2026-11-30T11:13:57.309Z",
};

const idle = {
  depth: 0,
  criticalDepth: 0,
  running: 0,
  retrying: 0,
  deferred: 0,
  inFlight: 0,
  bound: 10_000,
  depthPercent: 0,
  oldestWaitSeconds: 0,
  completedLastMinute: 6,
  pacePerSecond: null,
  peakDepth: 1,
  paused: false,
  limit: { algorithm: "aimd", value: 200 },
  counters: {
    accepted: 6,
    completed: 6,
    failed: 0,
    dead: 0,
    cancelled: 0,
    expired: 0,
    refused: { queue_full: 2 },
  },
};

export const COMMANDS = {
  send: {
    operationId: "sendCommand",
    description:
      "The answer is given when the command is on disk. How it ends is asked for at `statusUrl`, or awaited here with `Prefer: wait=N`. Intents that relieve the engine (`JOB:COMPLETE`, `PROCESS_INSTANCE:CANCEL`, …) are never refused for load.",
    limits: "refuse",
    problems: [...AT_THE_DOOR],
    headers: {
      200: ["Preference-Applied", "Idempotency-Replayed"],
      201: ["Location", "Preference-Applied", "Idempotency-Replayed"],
      202: ["Location", "Preference-Applied", "Idempotency-Replayed"],
    },
    examples: {
      deploy: {
        summary: "Deploy a process of two tasks",
        body: {
          intent: "DEPLOYMENT:CREATE",
          payload: { processId: "order", tasks: [{ type: "pay" }, { type: "ship", retries: 5 }] },
        },
        status: 202,
        answer: { commandId: ID, state: "succeeded", ...accepted, estimatedWaitSeconds: 0 },
      },
      create: {
        summary: "Start an instance under a key of one's own, and take the answer that comes at once",
        headers: { "Idempotency-Key": "order-7" },
        body: create,
        status: 202,
        answer: { commandId: ID, state: "queued", ...accepted, estimatedWaitSeconds: 30 },
      },
      createAndWait: {
        summary: "Start an instance, and wait up to 5 s for the command's end",
        headers: { Prefer: "wait=5" },
        body: create,
        status: 200,
        answer: ended,
      },
      activate: {
        summary: "Take a job for a minute",
        query: { wait: "5" },
        body: { intent: "JOB:ACTIVATE", payload: { type: "pay", maxJobs: 1, timeoutSeconds: 60 } },
        status: 200,
        answer: {
          ...ended,
          intent: "JOB:ACTIVATE",
          result: {
            jobs: [
              {
                jobKey: "1179603723715815",
                type: "pay",
                processInstanceKey: "1179603723715812",
                retries: 3,
                deadline: "2026-11-30T11:14:57.328Z",
                variables: { total: 42 },
              },
            ],
          },
        },
      },
      complete: {
        summary: "Complete it; its variables go into the instance",
        headers: { Prefer: "wait=5" },
        body: { intent: "JOB:COMPLETE", payload: { jobKey: "1179603723715815", variables: { paid: true } } },
        status: 200,
        answer: { ...ended, intent: "JOB:COMPLETE", result: {} },
      },
    },
  },
  read: {
    operationId: "getCommand",
    limits: "told",
    description: "Asking is not charged. A tenant sees its own commands.",
    problems: ["not_found", ...ENGINE_SILENCE],
    examples: {
      ended: { summary: "One that has ended", path, query: { wait: "5" }, status: 200, answer: ended },
      queued: {
        summary: "One that waits",
        path: { id: "1179603723715817" },
        status: 200,
        answer: {
          commandId: "1179603723715817",
          intent: "PROCESS_INSTANCE:CREATE",
          state: "queued",
          attempts: 0,
          acceptedAt: "2026-11-30T11:13:57.489Z",
          queuedAhead: 0,
          estimatedWaitSeconds: 30,
        },
      },
    },
  },
  cancel: {
    operationId: "cancelCommand",
    limits: "told",
    problems: ["not_found", "conflict", ...ENGINE_SILENCE],
    examples: { queued: { summary: "One that waits", path: { id: "1179603723715817" }, status: 204 } },
  },
  operatorQueue: {
    operationId: "getOperatorQueue",
    problems: [...ENGINE_SILENCE],
    headers: { 200: ["Cache-Control"] },
    examples: {
      idle: {
        summary: "An engine that has nothing to do",
        status: 200,
        answer: { ...idle, accepting: true, retryAfterSeconds: null, partitions: 1 },
      },
    },
  },
  queue: {
    operationId: "getQueue",
    limits: "told",
    description: "The same for every caller. Asking is not charged.",
    problems: [...ENGINE_SILENCE],
    headers: { 200: ["Cache-Control"] },
    examples: {
      idle: {
        summary: "An engine that has nothing to do",
        status: 200,
        answer: idle,
      },
    },
  },
} satisfies Record<string, Docs>;
