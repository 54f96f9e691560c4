import type { CommandError } from "../command.ts";
import { isJsonObject, type Json, type JsonText } from "../json.ts";
import { parseRetryAfter } from "../retry-after.ts";

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
  /** An attempt is spent. `answered`: by the upstream, which is there. */
  | { readonly verdict: "again"; readonly answered: boolean; readonly error: CommandError }
  /** No attempt can be made before an operator changes something. */
  | { readonly verdict: "undeliverable"; readonly error: CommandError };

/** Longer than this, an upstream's own words are cut: they are kept with the command. */
const MESSAGE_LENGTH_MAX = 500;

/**
 * Done: 2xx that came whole. Not now: 429 and 503. No: the other 4xx, which a repeat would not change. Everything else
 * (network, other 5xx, a redirect, a page where an answer should be) leaves open whether it was done.
 *
 * @param nowMs Unix milliseconds, which a date in `Retry-After` is counted from
 */
export function judgeAnswer(result: AttemptResult, nowMs: number): DeliveryVerdict {
  if (result.kind === "undeliverable") {
    return { verdict: "undeliverable", error: { code: "upstream_no_route", message: result.why } };
  }
  if (result.kind === "broken") return again(`upstream_${result.code}`, result.why, false);
  const { status, body } = result;
  if (status === 429 || status === 503) {
    return { verdict: "hold", waitMs: parseRetryAfter(result.retryAfter, nowMs), quota: status === 429 };
  }
  if (status >= 400 && status < 500) {
    return { verdict: "failed", error: { code: `upstream_${status}`, message: messageOf(status, body) } };
  }
  if (status < 200 || status >= 300) return again(`upstream_${status}`, messageOf(status, body));
  if (body.kind === "nonsense") return again("upstream_nonsense", `answered ${status}, but ${body.why}`);
  return { verdict: "succeeded", result: resultOf(body) };
}

/**
 * The same for a request that is handed on whole: its caller gets the answer itself, whatever it says. Only what a
 * second delivery cannot do twice is delivered again when nobody knows; of the rest the caller hears as much as is known.
 */
export function judgeWhole(result: AttemptResult, repeatable: boolean, nowMs: number): DeliveryVerdict {
  const verdict = judgeAnswer(result, nowMs);
  if (verdict.verdict === "hold" || (verdict.verdict === "again" && repeatable)) return verdict;
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

function again(code: string, message: string, answered = true): DeliveryVerdict {
  return { verdict: "again", answered, error: { code, message } };
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
