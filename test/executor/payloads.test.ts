import { OpenAPIHono } from "@hono/zod-openapi";
import { describe, expect, it } from "vitest";
import { INTENTS, type Intent } from "../../src/core/intents.ts";
import { payloadSchemas } from "../../src/executor/embedded/payloads.ts";

const KEY = "1000000000000001";
const TASK = { type: "pay" };

/** A smallest payload of each intent, as it reads with its defaults. */
const smallest: Record<Intent, { given: object; parsed: object }> = {
  "DEPLOYMENT:CREATE": {
    given: { processId: "p", tasks: [TASK] },
    parsed: { processId: "p", tasks: [{ type: "pay", retries: 3 }] },
  },
  "PROCESS_INSTANCE:CREATE": { given: { processId: "p" }, parsed: { processId: "p", variables: {} } },
  "PROCESS_INSTANCE:CANCEL": { given: { processInstanceKey: KEY }, parsed: { processInstanceKey: KEY } },
  "JOB:ACTIVATE": { given: { type: "pay" }, parsed: { type: "pay", maxJobs: 1, timeoutSeconds: 60 } },
  "JOB:COMPLETE": { given: { jobKey: KEY }, parsed: { jobKey: KEY } },
  "JOB:FAIL": { given: { jobKey: KEY }, parsed: { jobKey: KEY, retryBackoffSeconds: 0 } },
  "JOB:THROW_ERROR": { given: { jobKey: KEY, errorCode: "E" }, parsed: { jobKey: KEY, errorCode: "E" } },
  "JOB:UPDATE": { given: { jobKey: KEY, retries: 1 }, parsed: { jobKey: KEY, retries: 1 } },
  "INCIDENT:RESOLVE": { given: { jobKey: KEY }, parsed: { jobKey: KEY } },
};

function problems(intent: Intent, payload: unknown): string[] {
  const parsed = payloadSchemas[intent].safeParse(payload);
  if (parsed.success) return [];
  return parsed.error.issues.map((issue) =>
    issue.code === "unrecognized_keys" ? `unknown ${issue.keys.join()}` : issue.path.join("."),
  );
}

describe.each(INTENTS)("%s", (intent) => {
  const { given, parsed } = smallest[intent];

  it("fills in its defaults, and parses what it parsed to the same", () => {
    const once = payloadSchemas[intent].parse(given);
    expect(once).toEqual(parsed);
    expect(payloadSchemas[intent].parse(once)).toEqual(once);
  });

  it.each(["extra", "__proto__", "constructor"])("refuses the unknown field %s by its name", (field) => {
    const payload = JSON.parse(`${JSON.stringify(given).slice(0, -1)},${JSON.stringify(field)}:1}`);
    expect(problems(intent, payload)).toEqual([`unknown ${field}`]);
  });

  it.each([null, "text", 1, [], undefined])("refuses %j in place of an object", (payload) => {
    expect(problems(intent, payload)).toEqual([""]);
  });
});

const LONG = "x".repeat(255);
const accepted: [string, Intent, object][] = [
  ["names of 255", "DEPLOYMENT:CREATE", { processId: LONG, tasks: [{ type: LONG, retries: 100 }] }],
  ["100 tasks", "DEPLOYMENT:CREATE", { processId: "p", tasks: Array(100).fill(TASK) }],
  ["an emoji", "DEPLOYMENT:CREATE", { processId: "💶", tasks: [TASK] }],
  ["a version", "PROCESS_INSTANCE:CREATE", { processId: "p", version: 1 }],
  ["the largest activation", "JOB:ACTIVATE", { type: "t", maxJobs: 100, timeoutSeconds: 86_400 }],
  ["a fraction of a second", "JOB:ACTIVATE", { type: "t", timeoutSeconds: 0.001 }],
  ["a key of 25 digits", "JOB:COMPLETE", { jobKey: "9".repeat(25), variables: { a: [{ b: null }] } }],
  ["no retries left", "JOB:FAIL", { jobKey: KEY, retries: 0, errorMessage: "", retryBackoffSeconds: 86_400 }],
  ["a message of 2000", "JOB:FAIL", { jobKey: KEY, errorMessage: "x".repeat(2000) }],
  ["all of an error", "JOB:THROW_ERROR", { jobKey: KEY, errorCode: LONG, errorMessage: "m", variables: {} }],
  ["both changes", "JOB:UPDATE", { jobKey: KEY, retries: 100, timeoutSeconds: 1 }],
  ["an incident's key", "INCIDENT:RESOLVE", { incidentKey: KEY }],
];

it.each(accepted)("%s is accepted by %s", (_label, intent, payload) => {
  expect(problems(intent, payload)).toEqual([]);
});

const refused: [string, Intent, object, string][] = [
  ["an empty name", "DEPLOYMENT:CREATE", { processId: "", tasks: [TASK] }, "processId"],
  ["a name of 256", "DEPLOYMENT:CREATE", { processId: `${LONG}x`, tasks: [TASK] }, "processId"],
  ["a lone surrogate", "DEPLOYMENT:CREATE", { processId: "a\ud800", tasks: [TASK] }, "processId"],
  ["a lone surrogate in a type", "JOB:ACTIVATE", { type: "\udc00" }, "type"],
  ["no tasks", "DEPLOYMENT:CREATE", { processId: "p", tasks: [] }, "tasks"],
  ["101 tasks", "DEPLOYMENT:CREATE", { processId: "p", tasks: Array(101).fill(TASK) }, "tasks"],
  ["no retries at all", "DEPLOYMENT:CREATE", { processId: "p", tasks: [{ type: "t", retries: 0 }] }, "tasks.0.retries"],
  ["half a retry", "DEPLOYMENT:CREATE", { processId: "p", tasks: [{ type: "t", retries: 1.5 }] }, "tasks.0.retries"],
  ["a task's unknown field", "DEPLOYMENT:CREATE", { processId: "p", tasks: [{ type: "t", x: 1 }] }, "unknown x"],
  ["version 0", "PROCESS_INSTANCE:CREATE", { processId: "p", version: 0 }, "version"],
  ["a version in a string", "PROCESS_INSTANCE:CREATE", { processId: "p", version: "1" }, "version"],
  ["a list of variables", "PROCESS_INSTANCE:CREATE", { processId: "p", variables: [] }, "variables"],
  ["null variables", "PROCESS_INSTANCE:CREATE", { processId: "p", variables: null }, "variables"],
  ["a number as a key", "PROCESS_INSTANCE:CANCEL", { processInstanceKey: 1 }, "processInstanceKey"],
  ["an empty key", "JOB:COMPLETE", { jobKey: "" }, "jobKey"],
  ["a key of 26 digits", "JOB:COMPLETE", { jobKey: "1".repeat(26) }, "jobKey"],
  ["a key with a line break", "JOB:COMPLETE", { jobKey: "1\n" }, "jobKey"],
  ["a signed key", "JOB:COMPLETE", { jobKey: "-1" }, "jobKey"],
  ["no jobs", "JOB:ACTIVATE", { type: "t", maxJobs: 0 }, "maxJobs"],
  ["101 jobs", "JOB:ACTIVATE", { type: "t", maxJobs: 101 }, "maxJobs"],
  ["no time", "JOB:ACTIVATE", { type: "t", timeoutSeconds: 0 }, "timeoutSeconds"],
  ["more than a day", "JOB:ACTIVATE", { type: "t", timeoutSeconds: 86_401 }, "timeoutSeconds"],
  ["endless time", "JOB:ACTIVATE", { type: "t", timeoutSeconds: Number.POSITIVE_INFINITY }, "timeoutSeconds"],
  ["no number", "JOB:ACTIVATE", { type: "t", timeoutSeconds: Number.NaN }, "timeoutSeconds"],
  ["time in a string", "JOB:ACTIVATE", { type: "t", timeoutSeconds: "60" }, "timeoutSeconds"],
  ["a negative backoff", "JOB:FAIL", { jobKey: KEY, retryBackoffSeconds: -1 }, "retryBackoffSeconds"],
  ["101 retries", "JOB:FAIL", { jobKey: KEY, retries: 101 }, "retries"],
  ["a message of 2001", "JOB:FAIL", { jobKey: KEY, errorMessage: "x".repeat(2001) }, "errorMessage"],
  ["no error code", "JOB:THROW_ERROR", { jobKey: KEY }, "errorCode"],
  ["retries changed to 0", "JOB:UPDATE", { jobKey: KEY, retries: 0 }, "retries"],
  ["a change of nothing", "JOB:UPDATE", { jobKey: KEY }, ""],
  ["neither key", "INCIDENT:RESOLVE", {}, ""],
  ["both keys", "INCIDENT:RESOLVE", { incidentKey: KEY, jobKey: KEY }, ""],
];

it.each(refused)("%s is refused by %s", (_label, intent, payload, path) => {
  expect(problems(intent, payload)).toEqual([path]);
});

describe("variables", () => {
  const schema = payloadSchemas["PROCESS_INSTANCE:CREATE"];

  it("are handed on as they came, __proto__ included", () => {
    const variables = JSON.parse('{"__proto__":{"admin":true},"a":1}');
    const parsed = schema.parse({ processId: "p", variables });
    expect(JSON.stringify(parsed.variables)).toBe('{"__proto__":{"admin":true},"a":1}');
  });

  it("with a number too large for a double are refused by its path", () => {
    const variables = JSON.parse('{"a":[0,{"b":1e999}]}');
    expect(problems("PROCESS_INSTANCE:CREATE", { processId: "p", variables })).toEqual(["variables.a.1.b"]);
  });

  it("of any depth are walked without recursion", () => {
    let variables: object = {};
    for (let i = 0; i < 50_000; i++) variables = { a: variables };
    expect(problems("PROCESS_INSTANCE:CREATE", { processId: "p", variables })).toEqual([]);
  });
});

it("every payload can be described in an OpenAPI document", () => {
  const app = new OpenAPIHono();
  for (const intent of INTENTS) app.openAPIRegistry.register(intent.replace(":", "_"), payloadSchemas[intent]);
  const document = app.getOpenAPI31Document({ openapi: "3.1.0", info: { title: "t", version: "1" } });
  const described = document.components?.schemas?.PROCESS_INSTANCE_CREATE;
  expect(described).toMatchObject({
    type: "object",
    additionalProperties: false,
    required: ["processId"],
    properties: { variables: { type: "object", additionalProperties: true } },
  });
});
