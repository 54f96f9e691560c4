import { type RouteConfig, z } from "@hono/zod-openapi";
import type { AnyProblemCode } from "../../core/problem.ts";
import { type AnyShape, BODIES } from "../endpoint.ts";
import { type Access, accessOf, type Docs, type Example } from "./docs.ts";
import { type EveryHeader, headersNamed, RATE_HEADERS, type Registry } from "./headers.ts";
import { problemResponses } from "./problems.ts";
import { type Schemes, securityOf } from "./security.ts";

/** One route as an operation of the API document: its schemas, and around them what its {@link Docs} say. */

/** @param schemes what a credential may be in this deployment */
export function operationOf(registry: Registry, shape: AnyShape, schemes: Schemes): RouteConfig {
  const { method, path, summary, tags, params, query, documentedHeaders, docs = UNNAMED } = shape;
  const examples = Object.entries(docs.examples);
  const { description, operationId } = docs;
  const security = securityOf(schemes, accessOf(path, docs), method);
  return {
    method,
    path,
    ...(operationId === "" ? {} : { operationId }),
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [...tags],
    ...(security === null ? {} : { security }),
    ...serversOf(shape),
    request: {
      ...(params === undefined ? {} : { params: withExamples(params, examples, "path") }),
      ...(query === undefined ? {} : { query: withExamples(query, examples, "query") }),
      ...(documentedHeaders === undefined ? {} : { headers: withExamples(documentedHeaders, examples, "headers") }),
      ...bodyOf(shape, examples),
    },
    responses: { ...successes(shape, docs), ...problemResponses(registry, problemsOf(shape, docs), path) },
  };
}

/** A route without documentation is shown all the same. */
const UNNAMED: Docs = { operationId: "", examples: {} };

type Named = readonly (readonly [string, Example])[];

/** Stands in the document for the origin that it is asked at: an address with variables must be a whole URL. */
export const ORIGIN = "https://origin.invalid";

/** The second path of a route is the first behind another beginning, which is the same API at another address. */
function serversOf({ path, alsoAt }: AnyShape): Pick<RouteConfig, "servers"> {
  if (alsoAt === undefined) return {};
  const url = alsoAt.slice(0, -path.length);
  const variables = Object.fromEntries(
    [...url.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [
      name,
      // No description: the schema that swagger-parser checks by has none here.
      { default: "demo-standard" },
    ]),
  );
  const description =
    "The same, for clients that can be given an address and nothing else; the tenant is the one that the credential is of.";
  return {
    servers: [
      { url: "/", description: "This deployment." },
      { url: ORIGIN + url, description, variables },
    ],
  };
}

/** The members of a request's part, each with the values that the examples give it. */
function withExamples(members: z.ZodObject, examples: Named, part: "path" | "query" | "headers"): z.ZodObject {
  const documented = Object.entries(members.shape).map(([name, schema]) => {
    const values = examples.flatMap(([key, example]) => {
      const value = example[part]?.[name];
      return value === undefined ? [] : [[key, { summary: example.summary, value }] as const];
    });
    const shown = schema instanceof z.ZodType ? schema : z.unknown();
    return [name, values.length === 0 ? shown : shown.openapi({ param: { examples: Object.fromEntries(values) } })];
  });
  return z.object(Object.fromEntries(documented));
}

function bodyOf({ body, documentedBody = body, bodyAs = "json" }: AnyShape, examples: Named) {
  if (documentedBody === undefined) return {};
  const values = examples.filter(([, { body: given }]) => given !== undefined);
  const content = {
    schema: documentedBody,
    ...examplesOf(values.map(([key, { summary, body: value }]) => [key, { summary, value }])),
    ...(bodyAs === "multipart" ? { encoding: { resources: { contentType: "application/xml" } } } : {}),
  };
  // A body whose fields are all optional may be left out.
  const required = !(body ?? documentedBody).safeParse(undefined).success;
  return { body: { required, content: { [BODIES[bodyAs].type]: content } } };
}

function successes(shape: AnyShape, docs: Docs): RouteConfig["responses"] {
  const answers = Object.entries(shape.responses).map(([status, { description, schema, types = [JSON_TYPE] }]) => {
    const named: EveryHeader[] = ["X-Request-Id"];
    if (docs.limits !== undefined) named.push(...RATE_HEADERS, "X-Headgate-Degraded");
    const headers = headersNamed([...named, ...(docs.headers?.[Number(status)] ?? [])]);
    if (schema === undefined) return [status, { description, headers }];
    const shown = Object.entries(docs.examples).filter(([, one]) => one.status === Number(status) && "answer" in one);
    const examples = examplesOf(shown.map(([key, { summary, answer: value }]) => [key, { summary, value }]));
    // What is shown is written as the first of them says.
    const content = types.map((type, n) => [type, { schema, ...(n === 0 ? examples : {}) }]);
    return [status, { description, headers, content: Object.fromEntries(content) }];
  });
  return Object.fromEntries(answers);
}

const JSON_TYPE = "application/json";

function examplesOf(named: readonly (readonly [string, { summary: string; value: unknown }])[]) {
  return named.length === 0 ? {} : { examples: Object.fromEntries(named) };
}

/** Each limits its reads, or the faults of its callers. */
const ANYBODY: readonly AnyProblemCode[] = ["rate_limited", "unavailable"];
const OPERATORS: readonly AnyProblemCode[] = ["unauthenticated", ...ANYBODY];
/** What finding out who asks may come to. */
const BY_ACCESS: Readonly<Record<Access, readonly AnyProblemCode[]>> = {
  none: ANYBODY,
  tenant: ["forbidden", ...OPERATORS],
  client: ["forbidden", ...OPERATORS],
  admin: OPERATORS,
  open: OPERATORS,
};

/** What a route may say instead of yes: by its credential, its query, its body, its limits, and of its own. */
function problemsOf(shape: AnyShape, docs: Docs): AnyProblemCode[] {
  // A query can be wrong on any route.
  const codes: AnyProblemCode[] = ["internal", "invalid_request", ...(docs.problems ?? [])];
  const access = accessOf(shape.path, docs);
  codes.push(...BY_ACCESS[access]);
  // A viewer's token only reads.
  if (access === "admin" && shape.method !== "get") codes.push("forbidden");
  if (shape.body !== undefined) codes.push("payload_too_large", "unsupported_media_type");
  if (docs.limits === "refuse") codes.push("rate_limited", "cost_exceeds_capacity", "unavailable");
  return codes;
}
