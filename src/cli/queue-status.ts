import { z } from "zod";
import { type Client, jsonObject } from "./http-client.ts";
import { messageOf } from "./tool.ts";

/** Reading `GET /v1/queue` from outside. What is not needed here is passed over, and what is newer may be missing. */

const status = z.looseObject({
  depth: z.number(),
  criticalDepth: z.number().default(0),
  running: z.number().default(0),
  inFlight: z.number(),
  bound: z.number(),
  oldestWaitSeconds: z.number(),
  completedLastMinute: z.number(),
  pacePerSecond: z.number().nullable(),
  peakDepth: z.number(),
  paused: z.boolean(),
  /** Commands between two attempts at delivery. */
  retrying: z.number().optional(),
  /** Commands that are saved and for which no work is planned yet. */
  deferred: z.number().optional(),
  upstream: z.looseObject({ state: z.string(), resumesInSeconds: z.number().nullable().optional() }).optional(),
  counters: z.looseObject({
    accepted: z.number(),
    completed: z.number(),
    failed: z.number(),
    dead: z.number(),
    refused: z.record(z.string(), z.number()),
  }),
});

export type QueueStatus = z.infer<typeof status>;

/** The queue as it stands, or one line that says why it is not known. */
export type QueueLook = { readonly status: QueueStatus } | { readonly fault: string };

/** A gateway that takes longer is looked at again instead. */
const ANSWER_MS_MAX = 5000;

/**
 * @param key a tenant's credential
 * @returns never fails: a gateway that is not there is something to see, too
 */
export async function lookAtQueue(client: Client, key: string): Promise<QueueLook> {
  try {
    const headers = { Authorization: `Bearer ${key}` };
    const answer = await client.send({ method: "GET", path: "/v1/queue", headers, timeoutMs: ANSWER_MS_MAX });
    if (answer.status !== 200) return { fault: `the gateway answers ${answer.status}${reason(answer.text)}` };
    const parsed = status.safeParse(JSON.parse(answer.text));
    return parsed.success
      ? { status: parsed.data }
      : { fault: `not a queue's state: ${parsed.error.issues[0]?.path.join(".")} ${parsed.error.issues[0]?.message}` };
  } catch (error) {
    return { fault: `no answer (${messageOf(error)})` };
  }
}

/** Refusals of all kinds together. */
export function refusedInAll({ counters }: QueueStatus): number {
  return Object.values(counters.refused).reduce((sum, count) => sum + count, 0);
}

/** What a problem says of itself. */
function reason(text: string): string {
  const { code, detail } = jsonObject(text);
  return typeof code === "string" ? ` ${code}: ${typeof detail === "string" ? detail : ""}` : "";
}
