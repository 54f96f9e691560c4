import { describe, expect, test } from "vitest";
import type { Recent } from "../../src/web/dashboard/history.ts";
import type { AdminQueue } from "../../src/web/dashboard/shapes.ts";
import { type Contact, situationOf } from "../../src/web/dashboard/situation.ts";
import { queueOf } from "./support.ts";

const LIVE: Contact = { kind: "live" };
const QUIET: Recent = { acceptedPerSecond: 0, refusedPerSecond: {}, hadRoom: true };

function refusing(code: string, part: Partial<Recent> = {}): Recent {
  return { acceptedPerSecond: 8, refusedPerSecond: { [code]: 4 }, hadRoom: false, ...part };
}

/** A state of the engine, and what is said of it. */
const CASES: [string, Partial<AdminQueue>, Recent | null, { tone: string; word: string; says: RegExp }][] = [
  ["nothing waits", {}, QUIET, { tone: "ok", word: "OK", says: /nothing waits\. Nothing needs to be done/ }],
  [
    "work flows",
    { depth: 12, oldestWaitSeconds: 1.2 },
    QUIET,
    { tone: "ok", word: "OK", says: /12 wait \(room for 88 more\), the oldest for 1\.2 s\. The pace is 10\.0\/s/ },
  ],
  [
    "only tenants over their own limits are refused",
    {},
    refusing("rate_limited"),
    { tone: "ok", word: "OK", says: /over their own limits are refused 4\.0\/s/ },
  ],
  [
    "the queue is nearly full",
    { depth: 80, oldestWaitSeconds: 8 },
    { ...QUIET, acceptedPerSecond: 14 },
    { tone: "warn", word: "Filling up", says: /nobody is refused yet\. .*full in 5\.0 s/ },
  ],
  [
    "the queue is full",
    { depth: 100, retryAfterSeconds: 43 },
    refusing("queue_full"),
    { tone: "bad", word: "Refusing", says: /queue is full.*8\.0\/s are taken and 4\.0\/s refused.*come back in 43 s/ },
  ],
  [
    "the queue is full, and nobody has asked since",
    { depth: 100, retryAfterSeconds: 10 },
    null,
    { tone: "bad", word: "Refusing", says: /queue is full/ },
  ],
  [
    "tenants have their share while there is room",
    { depth: 50 },
    refusing("queue_full", { hadRoom: true }),
    { tone: "bad", word: "Refusing", says: /though there is room.*have their share/ },
  ],
  [
    "flow control refuses",
    { inFlight: 200 },
    refusing("request_limit"),
    { tone: "bad", word: "Refusing", says: /in flight as flow control allows/ },
  ],
  [
    "flow control refused, and nothing is in flight now",
    {},
    refusing("request_limit"),
    {
      tone: "warn",
      word: "Refused lately",
      says: /refused in the last ten seconds; now nothing is in flight\. There is room/,
    },
  ],
  [
    "the queue was full, and is empty now",
    {},
    refusing("queue_full"),
    { tone: "warn", word: "Refused lately", says: /refused in the last ten seconds/ },
  ],
  [
    "it refuses and nobody knows a pace",
    { depth: 100, pacePerSecond: null, retryAfterSeconds: 30 },
    refusing("queue_full"),
    { tone: "bad", word: "Refusing", says: /8\.0\/s are taken and 4\.0\/s refused\. Who is refused/ },
  ],
  [
    "work flows and nobody knows a pace",
    { depth: 12, oldestWaitSeconds: 1.2, pacePerSecond: null },
    QUIET,
    { tone: "ok", word: "OK", says: /the oldest for 1\.2 s\.$/ },
  ],
  [
    "the write limit refuses",
    {},
    refusing("write_limit"),
    { tone: "bad", word: "Refusing", says: /write limit allows/ },
  ],
  [
    "it is paused and takes commands",
    { paused: true, depth: 40 },
    { ...QUIET, acceptedPerSecond: 6 },
    { tone: "warn", word: "Paused", says: /still taken, and wait\. .*full in 10 s.*Resume/ },
  ],
  [
    "it is paused, takes commands, and has as many in flight as flow control allows otherwise",
    { paused: true, depth: 40, inFlight: 200 },
    { ...QUIET, acceptedPerSecond: 6 },
    { tone: "bad", word: "Paused", says: /there is no room left, and new commands are refused\..*room for 0 more/ },
  ],
  [
    "it is paused and full",
    { paused: true, depth: 100, retryAfterSeconds: 30 },
    refusing("queue_full"),
    { tone: "bad", word: "Paused", says: /no room left, and new commands are refused\..*room for 0 more.*Resume/ },
  ],
  [
    "it is paused and takes none",
    { paused: true, accepting: false },
    refusing("engine_paused"),
    { tone: "bad", word: "Paused", says: /new commands are refused\. Nothing waits\. Resume/ },
  ],
  [
    "the backend has asked for a pause",
    { upstream: { state: "waiting", resumesInSeconds: 20 }, depth: 3 },
    QUIET,
    { tone: "warn", word: "Waiting for the backend", says: /asked again in 20 s.*Look at the backend/ },
  ],
  [
    "the backend is tried",
    { upstream: { state: "probing" }, depth: 3 },
    QUIET,
    { tone: "warn", word: "Trying the backend", says: /one command at a time/ },
  ],
  [
    "the backend is well",
    { upstream: { state: "delivering" } },
    QUIET,
    { tone: "ok", word: "OK", says: /All is well/ },
  ],
  [
    "work waits and none is finished",
    { depth: 3, oldestWaitSeconds: 90, completedLastMinute: 0, pacePerSecond: null },
    QUIET,
    { tone: "bad", word: "Stuck", says: /none has been finished.*Worker's logs/ },
  ],
];

describe("the state in words", () => {
  test.each(CASES)("when %s", (_label, part, recent, { tone, word, says }) => {
    const said = situationOf(LIVE, queueOf(part), recent);
    expect({ tone: said.tone, word: said.word }).toEqual({ tone, word });
    expect(`${said.headline} ${said.advice}`).toMatch(says);
  });

  test("says nothing twice that is read aloud: no figure stands in a headline", () => {
    const headlines = CASES.map(([, part, recent]) => situationOf(LIVE, queueOf(part), recent).headline);
    expect(headlines.filter((headline) => /\d/.test(headline))).toEqual([]);
  });

  test("a full queue that is paused is told as paused: that is what has to be undone", () => {
    const queue = queueOf({ paused: true, depth: 100, retryAfterSeconds: 30 });
    expect(situationOf(LIVE, queue, refusing("queue_full")).word).toBe("Paused");
  });

  test.each<[string, Contact, string, RegExp]>([
    ["nothing was heard yet", { kind: "starting" }, "Asking", /within a second or two/],
    [
      "the engine is silent",
      { kind: "silent", why: "It restarts.", forSeconds: 12 },
      "Not answering",
      /For 12 s: “It restarts\.”.*\/readyz/,
    ],
    ["the page is offline", { kind: "offline", forSeconds: 75 }, "No connection", /For 1 min 15 s.*\/healthz/],
  ])("when %s, also while older figures are there", (_label, contact, word, says) => {
    for (const queue of [null, queueOf({ depth: 100 })]) {
      const said = situationOf(contact, queue, null);
      expect(said.word).toBe(word);
      expect(said.advice).toMatch(says);
    }
  });
});
