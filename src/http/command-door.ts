import type { Context } from "hono";
import type { Config } from "../config.ts";
import type { CommandView } from "../core/command.ts";
import { HEALTHY } from "../core/depth-gate.ts";
import { type Intent, isCritical } from "../core/intents.ts";
import { isJsonObject, type JsonObject, type JsonText } from "../core/json.ts";
import type { Problem } from "../core/problem.ts";
import { partitionFor, readCommand, submitCommand } from "../durable/engines.ts";
import { CallerGone, type HangUp } from "../durable/hang-up.ts";
import { observeLatencies } from "../durable/limiters.ts";
import type { Acceptance, FirstAnswer, KeyUse, Submission } from "../durable/submission.ts";
import { payloadSchemas } from "../executor/embedded/payloads.ts";
import { faultsForPath, routeOf } from "../executor/upstream/routes.ts";
import { callerKey } from "../identity/caller.ts";
import type { AppEnv } from "./app-env.ts";
import { invalidFields } from "./body.ts";
import { check } from "./check.ts";
import {
  gated,
  gateState,
  giveBack,
  hearEngine,
  hearRefusal,
  hearTold,
  passFirst,
  refuseAtEdge,
  takeWanting,
} from "./edge.ts";
import { finishAnyway, hangUpOf } from "./hang-up.ts";
import { readKey } from "./idempotency-key.ts";
import { refundTenant, refuseOverLimit } from "./middleware/tenant-limit.ts";

/**
 * A command's way in, whatever route it came by: its payload and its key are checked, then the caller's own limit, then
 * whether the engine has room as far as this isolate knows, then the engine itself. What an answer looks like is the
 * route's business.
 */

export interface NewCommand {
  readonly intent: string;
  readonly payload: JsonObject;
  /** The payload as its caller wrote it, where it is handed on so; without it, as the payload prints. */
  readonly payloadText?: JsonText | undefined;
  /** After so long it need not begin any more; null: it always may. */
  readonly deadlineMs: number | null;
  /** How long its caller would wait for its end. */
  readonly waitMs: number;
  /** Tokens of the tenant's limits. */
  readonly cost: number;
  /** The request as it was made, for the caller's own name of it: that must not be used for another. */
  readonly said: JsonObject;
  /** Headers that go with it besides those of the caller that the deployment lists. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What became of a command at the door. */
export type AtDoor =
  | { readonly kind: "refused"; readonly problem: Problem; readonly engineSilent: boolean }
  /** Said already, with its headers: the tenant's own limit. */
  | { readonly kind: "answered"; readonly response: Response }
  | { readonly kind: "repeated"; readonly answer: FirstAnswer }
  | {
      readonly kind: "accepted";
      readonly command: CommandView;
      readonly deferred: boolean;
      /** The caller's own name for it; null: it gave none. */
      readonly key: string | null;
    };

const utf8 = new TextEncoder();

/** What the engine says of a submission; of one that does not answer {@link submitCommand} says it. */
type Told = Awaited<ReturnType<typeof submitCommand>>;
type Refused = Extract<Told, { readonly kind: "refused" }>;
interface Nothing {
  readonly kind: "nothing";
}

/** Takes a command through the layers. A refusal charges nothing. */
export async function sendCommand(c: Context<AppEnv>, config: Config, command: NewCommand): Promise<AtDoor> {
  const key = await readKey(c, command.said);
  if (key !== null && "code" in key) return { kind: "refused", problem: key, engineSilent: false };
  const critical = isCritical(config.intents, command.intent);
  const passing = { key, critical, skipGate: critical };
  const told = await passLayers<never>(c, config, command, passing, (partition, submission, hangUp) =>
    submitCommand(c.env, partition, submission, hangUp),
  );
  switch (told.kind) {
    case "refused":
      return { kind: "refused", problem: told.problem, engineSilent: told.health === null && told.mayHaveActed };
    case "accepted":
      return { ...told, key: key?.key ?? null };
    case "answered":
    case "repeated":
      return told;
  }
}

interface Passing {
  readonly key: KeyUse | null;
  readonly critical: boolean;
  /** Layer 2 is not asked. */
  readonly skipGate: boolean;
}

/**
 * The three layers, in their order, around one way of reaching the engine. Layer 2 is asked first and answers second:
 * what it refuses must hear of its own limit first, and not be charged.
 */
export function passLayers<N extends Nothing = never>(
  c: Context<AppEnv>,
  config: Config,
  command: NewCommand,
  passing: Passing,
  reach: Reach<N>,
): Promise<Passed<N>> {
  return finishAnyway(c, passEach(c, config, command, passing, reach));
}

type Reach<N> = (partition: number, submission: Submission, hangUp: HangUp) => Promise<Told | N>;
type Passed<N> = Told | N | { readonly kind: "answered"; readonly response: Response };

async function passEach<N extends Nothing>(
  c: Context<AppEnv>,
  config: Config,
  command: NewCommand,
  { key, critical, skipGate }: Passing,
  reach: Reach<N>,
): Promise<Passed<N>> {
  const { cost } = command;
  const tenant = callerKey(c.get("caller"));
  const asker = { tenant, weight: c.get("caller").weight };
  const partition = partitionFor(config, tenant, command.payload);
  const from = gateState(partition);
  const closed = skipGate ? null : gated(partition, tenant, key !== null, Date.now());
  const first = closed === null ? null : passFirst(partition, tenant, closed, Date.now());
  const atEdge = first === null ? closed : null;
  const pass = { from, to: gateState(partition), first };
  const limited = await refuseOverLimit(c, config, { cost, critical, judgeOnly: atEdge !== null });
  if (limited instanceof Response) {
    giveBack(partition, pass);
    return { kind: "answered", response: limited };
  }
  if (atEdge !== null) return refusedHere(refuseAtEdge(partition, asker, atEdge, Date.now()));

  const submission = {
    ...submissionOf(c, config, command),
    idempotency: key,
    wanting: takeWanting(partition, Date.now()),
  };
  const told = await reach(partition, submission, hangUpOf(c)).catch(async (error: unknown) => {
    if (error instanceof CallerGone) {
      giveBack(partition, pass);
      if (limited.receipt !== undefined) await refundTenant(c, config, cost, limited.receipt);
    }
    throw error;
  });
  if ("health" in told && told.health !== null) hearEngine(partition, told.health, Date.now());
  if (told.kind === "refused") {
    const { overShare, problem, health } = told;
    const forRoom = health !== null && (problem.code === "queue_full" || problem.code === "request_limit");
    if (forRoom) hearRefusal(partition, asker, problem.retryAfterSeconds, overShare, Date.now());
    if (limited.receipt !== undefined) await refundTenant(c, config, cost, limited.receipt);
  }
  if (told.kind === "accepted" && told.lastToldSeconds !== null) {
    // Others were told times elsewhere: what is told here comes after those.
    hearTold(partition, asker, told.lastToldSeconds, Date.now());
  }
  if (told.kind === "accepted" && told.latenciesMs.length > 0) {
    c.executionCtx.waitUntil(observeLatencies(c.env, c.get("caller"), told.latenciesMs));
  }
  return told;
}

/** As if the engine had said it: what it said earlier is the reason. */
function refusedHere(problem: Problem): Refused {
  return { kind: "refused", problem, health: HEALTHY, overShare: false };
}

function submissionOf(
  c: Context<AppEnv>,
  config: Config,
  { intent, payload, payloadText, deadlineMs, waitMs, headers = {} }: NewCommand,
): Omit<Submission, "idempotency" | "wanting"> {
  const text = payloadText ?? JSON.stringify(payload);
  const forwarded = config.UPSTREAM_FORWARD_HEADERS.flatMap((name) => {
    const value = c.req.header(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    tenant: callerKey(c.get("caller")),
    weight: c.get("caller").weight,
    intent,
    payload: text,
    bytes: utf8.encode(text).byteLength,
    token: crypto.randomUUID(),
    deadlineMs,
    headers: { ...Object.fromEntries(forwarded), ...headers },
    waitMs,
  };
}

/**
 * The command as it stands once it has ended, or after `waitMs` at the latest; null when the engine cannot say.
 */
export async function awaitEnd(
  c: Context<AppEnv>,
  config: Config,
  command: CommandView | Acceptance,
  waitMs: number,
  key: string | null,
): Promise<CommandView | null> {
  if ("finishedAt" in command && command.finishedAt !== undefined) return command;
  try {
    const tenant = callerKey(c.get("caller"));
    return await readCommand(c.env, config, tenant, command.commandId, waitMs, hangUpOf(c), key);
  } catch (error) {
    if (error instanceof CallerGone) throw error;
    // It is accepted whatever becomes of the wait, so a wait that fails is none.
    console.warn(JSON.stringify({ event: "wait_failed", requestId: c.get("requestId"), error: String(error) }));
    return null;
  }
}

/** @param at where in the request the payload's members are: `["payload"]`, or none where they are the body's own */
export function checkPayload(
  config: Config,
  intent: string,
  payload: JsonObject,
  at: readonly string[],
): Problem | { value: JsonObject } {
  if (config.executor === "upstream") {
    const route = routeOf(config.routes, intent);
    const faults = route === null ? [] : faultsForPath(route, payload);
    return faults.length > 0 ? invalidFields(faults, "body") : { value: payload };
  }
  const checked = check(payloadSchemas[intent as Intent], payload, at);
  if ("errors" in checked) return invalidFields(checked.errors, "body");
  // What was parsed from JSON, checked and completed by a schema of plain data, is JSON.
  return isJsonObject(checked.value) ? { value: checked.value } : { code: "internal" };
}
