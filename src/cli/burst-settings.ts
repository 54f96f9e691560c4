import { INTENT_FORM } from "../core/intents.ts";
import { isJsonObject } from "../core/json.ts";
import { address, decimal, flag, readOptions, text, usageText, whole } from "./options.ts";

/** What may be said to `npm run burst`. */

export interface BurstOptions {
  readonly url: string;
  readonly key: string;
  /** Requests per second. */
  readonly rate: number;
  readonly seconds: number;
  readonly intent: string;
  /** A JSON object, in which `{n}` stands for the request's number, from 0. */
  readonly payload: string;
  /** Whether each request carries an Idempotency-Key of its own. */
  readonly idempotency: boolean;
  /** `Prefer: wait`, in seconds; 0: not sent. */
  readonly wait: number;
}

/** Each request's answer is kept until the end: a hundred bytes. */
const REQUESTS_MAX = 1_000_000;
const RATE = { min: 0.01, max: 10_000 };
const SECONDS = { min: 1, max: 86_400 };
/** What runs in the embedded engine once a process `order` is deployed, and at any backend. */
const PAYLOAD = '{"processId":"order","variables":{"n":{n}}}';
const OPTIONS = {
  url: address("where the gateway is", "http://127.0.0.1:8787"),
  key: text("KEY", "the credential", "hg_dev_premium"),
  rate: decimal("N", "requests per second", RATE, 10),
  seconds: decimal("N", "for how long", SECONDS, 30),
  intent: text("INTENT", "what each command wants", "PROCESS_INSTANCE:CREATE", checkIntent),
  payload: text("JSON", "a command's payload; {n} is its number, from 0", PAYLOAD, checkPayload),
  idempotency: flag("an Idempotency-Key of its own with each request"),
  wait: whole("N", "Prefer: wait=N, in seconds; 0: not sent", { min: 0, max: 60 }, 0),
  json: flag("one JSON object at the end instead of the table"),
};

export const BURST_USAGE = usageText(
  "npm run burst",
  "commands at a fixed rate, whatever the gateway answers",
  OPTIONS,
);

/**
 * @param argv the arguments after the program's name
 * @returns what was asked for, or "help"
 * @throws Error with one line for people
 */
export function readBurstArguments(argv: readonly string[]): (BurstOptions & { readonly json: boolean }) | "help" {
  const values = readOptions(argv, OPTIONS);
  if (values === "help") return "help";
  if (values.rate * values.seconds > REQUESTS_MAX) {
    throw new Error(`--rate times --seconds takes up to ${REQUESTS_MAX} requests, not ${values.rate * values.seconds}`);
  }
  return values;
}

/** The payload of one request, as JSON text. */
export function payloadOf(template: string, n: number): string {
  return template.replaceAll("{n}", String(n));
}

/** Which intents a gateway takes is its own to say: a deployment may declare some. */
function checkIntent(given: string): void {
  if (!INTENT_FORM.test(given)) throw new Error(`takes NOUN:VERB in capitals, not ${given}`);
}

function checkPayload(template: string): void {
  let parsed: unknown;
  try {
    parsed = JSON.parse(payloadOf(template, 0));
  } catch {
    // Said below, like anything else that is no object.
  }
  if (!isJsonObject(parsed)) throw new Error(`takes a JSON object, not ${template}`);
}
