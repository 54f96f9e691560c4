import type { CommandError } from "../command.ts";
import { isJsonObject, type Json, type JsonText } from "../json.ts";
import { parseRetryAfter } from "../retry-after.ts";
import { HOLD_MS_MAX, HOLD_MS_MIN } from "./circuit.ts";
import { holdsQueue, meaningOf, type RouteStatuses } from "./statuses.ts";

/**
 * What an upstream's answer to a delivery means for the command. The rule: done, refused by the upstream's rules, not
 * now, or nobody knows. How long to wait, and how often to try, is decided elsewhere.
 */

/** The body of an answer, as far as it was read. */
export type AnswerBody =
  | { readonly kind: "empty" }
  /** `text` is what `value` was read from. */
  | { readonly kind: "json"; readonly value: Json; readonly text: JsonText }
  | { readonly kind: "text"; readonly value: string }
  /** More than we keep. */
  | { readonly kind: "omitted"; readonly why: string }
  /** In a charset that is not known, or with bytes that are none of its text. */
  | { readonly kind: "unreadable"; readonly why: string }
  /** Says that it is JSON and is not, or is a page for people. */
  | { readonly kind: "nonsense"; readonly why: string };

/** What came of one attempt to deliver. */
export type AttemptResult =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly retryAfter: string | null;
      readonly body: AnswerBody;
      /** Of the body. */
      readonly contentType?: string;
    }
  /** No answer, or one that broke off: whether the work was done is not known. */
  | { readonly kind: "broken"; readonly code: "unreachable" | "timeout"; readonly why: string }
  /** Nothing was sent: there is nowhere to send it to. */
  | { readonly kind: "undeliverable"; readonly why: string };

export type DeliveryVerdict =
  | { readonly verdict: "succeeded"; readonly result: JsonText }
  | { readonly verdict: "failed"; readonly error: CommandError; readonly result?: JsonText }
  /** The upstream takes nothing now: the whole queue waits, and no attempt is spent. Null: it did not say how long. */
  | { readonly verdict: "hold"; readonly waitMs: number | null; readonly quota: boolean }
  /** The upstream takes this command later: it waits by itself, and no attempt is spent. Null: as for a hold. */
  | { readonly verdict: "delay"; readonly waitMs: number | null; readonly error: CommandError }
  /** An attempt is spent; the next one is made after so long, or null: after the backoff. */
  | {
      readonly verdict: "again";
      /** By the upstream, which is there. */
      readonly answered: boolean;
      /** It is about this command: the upstream itself works. */
      readonly works: boolean;
      readonly waitMs: number | null;
      readonly error: CommandError;
    }
  /** No attempt can be made before an operator changes something. */
  | { readonly verdict: "undeliverable"; readonly error: CommandError };

/** Longer than this, an upstream's own words are cut: they are kept with the command. */
const MESSAGE_LENGTH_MAX = 500;

/**
 * Done: 2xx that came whole. What another status means is in statuses.ts. No answer, or a page where one should be, leaves
 * open whether it was done, and spends an attempt.
 *
 * @param statuses what the command's route says of single statuses
 * @param nowMs Unix milliseconds, which a date in `Retry-After` is counted from
 */
export function judgeAnswer(result: AttemptResult, statuses: RouteStatuses, nowMs: number): DeliveryVerdict {
  if (result.kind === "undeliverable") {
    return { verdict: "undeliverable", error: { code: "upstream_no_route", message: result.why } };
  }
  if (result.kind === "broken") return again(`upstream_${result.code}`, result.why, false);
  const { status, body } = result;
  if (status >= 200 && status < 300) {
    if (body.kind === "nonsense") return again("upstream_nonsense", `answered ${status}, but ${body.why}`, true);
    return { verdict: "succeeded", result: resultOf(body) };
  }
  const toldMs = parseRetryAfter(result.retryAfter, nowMs);
  const error = { code: `upstream_${status}`, message: messageOf(status, body) };
  switch (meaningOf(status, toldMs !== null, statuses)) {
    case "final":
      return { verdict: "failed", error };
    case "not-now":
      return holdsQueue(status)
        ? { verdict: "hold", waitMs: toldMs, quota: status === 429 }
        : { verdict: "delay", waitMs: usableMs(toldMs), error };
    case "retry": {
      const works = status >= 400 && status < 500;
      return { verdict: "again", answered: true, works, waitMs: usableMs(toldMs), error };
    }
  }
}

/** A wait that the upstream told, within bounds; null where it told none, or as good as none. */
function usableMs(toldMs: number | null): number | null {
  return toldMs === null || toldMs < HOLD_MS_MIN ? null : Math.min(toldMs, HOLD_MS_MAX);
}

/**
 * The same for a request that is handed on whole: its caller gets the answer itself, whatever it says. Only what a
 * second delivery cannot do twice is delivered again when nobody knows; of the rest the caller hears as much as is known.
 */
export function judgeWhole(result: AttemptResult, repeatable: boolean, nowMs: number): DeliveryVerdict {
  const verdict = judgeAnswer(result, {}, nowMs);
  // Of a command that it will not have now its caller decides, who hears it.
  if (verdict.verdict === "hold" || (verdict.verdict === "again" && repeatable && !verdict.works)) return verdict;
  if (verdict.verdict === "undeliverable" || result.kind === "undeliverable") return verdict;
  if (result.kind === "broken") {
    return { verdict: "failed", error: { code: `upstream_${result.code}`, message: result.why } };
  }
  const { status, body, contentType = "" } = result;
  const text = body.kind === "text" ? body.value : "";
  const isKept = body.kind !== "omitted" && body.kind !== "unreadable";
  const whole = isKept ? { status, contentType, body: text } : { status, omitted: body.why };
  if (verdict.verdict === "succeeded") return { verdict: "succeeded", result: JSON.stringify(whole) };
  return { verdict: "failed", error: verdict.error, result: JSON.stringify(whole) };
}

function again(code: string, message: string, answered: boolean): DeliveryVerdict {
  return { verdict: "again", answered, works: false, waitMs: null, error: { code, message } };
}

function resultOf(body: Exclude<AnswerBody, { kind: "nonsense" }>): JsonText {
  switch (body.kind) {
    case "empty":
      return "{}";
    case "json":
      return isJsonObject(body.value) ? body.text : `{"value":${body.text}}`;
    case "text":
      return JSON.stringify({ text: body.value });
    case "omitted":
      // It is done, so doing it again would be wrong; only what it said is not kept.
      return JSON.stringify({ omitted: body.why });
    case "unreadable":
      return JSON.stringify({ unreadable: body.why });
  }
}

/** What an upstream says of a refusal: the `detail`, `message`, `error` or `title` of a JSON object, or plain text. */
function messageOf(status: number, body: AnswerBody): string {
  const own = ownWords(body);
  return own === "" ? `answered ${status}` : `answered ${status}: ${own.slice(0, MESSAGE_LENGTH_MAX).toWellFormed()}`;
}

function ownWords(body: AnswerBody): string {
  if (body.kind === "text") return body.value;
  if (body.kind === "unreadable") return body.why;
  if (body.kind !== "json" || !isJsonObject(body.value)) return "";
  const { detail, message, error, title } = body.value;
  return [detail, message, error, title].find((words) => typeof words === "string") ?? "";
}
