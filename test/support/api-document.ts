import { type Schema, Validator } from "@cfworker/json-schema";

/** Reads an API document: its operations, the requests that its examples are, and whether a value holds against it. */

interface Shown {
  readonly summary?: string;
  readonly value: unknown;
}

interface Media {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, Shown>>;
}

export interface ApiResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, Media>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly servers?: readonly {
    readonly url: string;
    readonly variables?: Readonly<Record<string, { readonly default: string }>>;
  }[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: "path" | "query" | "header";
    readonly examples?: Readonly<Record<string, Shown>>;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, ApiResponse | { readonly $ref: string }>>;
}

export interface ApiDocument {
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation | undefined>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>> & {
    readonly responses: Readonly<Record<string, ApiResponse>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

export interface Placed {
  /** In capitals. */
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function operationsOf({ paths }: ApiDocument): Placed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operation === undefined ? [] : [{ method: method.toUpperCase(), path, operation }],
    ),
  );
}

/** What an operation may answer with a status; undefined: it does not say so. */
export function responseOf(document: ApiDocument, operation: Operation, status: number): ApiResponse | undefined {
  const found = operation.responses[status];
  if (found === undefined || !("$ref" in found)) return found;
  return document.components.responses[found.$ref.slice("#/components/responses/".length)];
}

/** A request of the document's own, put together from the parts that bear its name. */
export interface ExampleRequest extends Placed {
  readonly name: string;
  readonly parameters: Readonly<Record<"path" | "query" | "header", Readonly<Record<string, unknown>>>>;
  readonly body?: { readonly type: string; readonly value: unknown };
  /** The status that its answer is shown with, or the one that has no body. */
  readonly status: number;
  /** Undefined where the answer has no body. */
  readonly answer: unknown;
}

/** The requests that an operation shows; one without a name, for an operation that has nothing to show. */
export function examplesOf(placed: Placed): ExampleRequest[] {
  const { operation } = placed;
  const media = (response: ApiResponse | { readonly $ref: string }) =>
    "$ref" in response ? [] : Object.values(response.content ?? {});
  const answers = Object.entries(operation.responses).flatMap(([status, response]) =>
    media(response).flatMap(({ examples = {} }) =>
      Object.entries(examples).map(([name, { value }]) => ({ name, status: Number(status), value })),
    ),
  );
  const silent = Object.entries(operation.responses).find(([, one]) => !("$ref" in one) && one.content === undefined);
  const bodies = Object.entries(operation.requestBody?.content ?? {}).flatMap(([type, { examples = {} }]) =>
    Object.entries(examples).map(([name, { value }]) => ({ name, type, value })),
  );
  const parameters = operation.parameters ?? [];
  const names = new Set([
    ...answers.map(({ name }) => name),
    ...bodies.map(({ name }) => name),
    ...parameters.flatMap(({ examples = {} }) => Object.keys(examples)),
  ]);
  return [...(names.size === 0 ? ["plain"] : names)].map((name) => {
    const given = (where: "path" | "query" | "header") =>
      Object.fromEntries(
        parameters.flatMap(({ name: parameter, in: at, examples = {} }) =>
          at === where && examples[name] !== undefined ? [[parameter, examples[name].value]] : [],
        ),
      );
    const body = bodies.find((one) => one.name === name);
    const answer = answers.find((one) => one.name === name);
    const status = answer?.status ?? Number(silent?.[0] ?? Object.keys(operation.responses)[0]);
    return {
      ...placed,
      name,
      parameters: { path: given("path"), query: given("query"), header: given("header") },
      ...(body === undefined ? {} : { body }),
      status,
      answer: answer?.value,
    };
  });
}

/** What is wrong with a value by one of the document's schemas, members that it does not know included. */
export function faultsBy(document: ApiDocument, schema: Schema, value: unknown): string[] {
  const root = { open: document.components, components: closed(document.components), ...asSchema(closed(schema)) };
  const { valid, errors } = new Validator(root, "2020-12", false).validate(value);
  return valid ? [] : errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}

function asSchema(schema: unknown): Schema {
  return typeof schema === "object" && schema !== null ? { ...schema } : {};
}

/** The same, with every object closed that does not say what else may be in it. Parts of an `allOf` are closed around it. */
function closed(schema: unknown, isPart = false): unknown {
  if (Array.isArray(schema)) return schema.map((one) => closed(one, isPart));
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.entries(schema).map(([name, value]) => [name, closed(value, name === "allOf")]);
  const copy: Record<string, unknown> = Object.fromEntries(members);
  if (isPart && typeof copy.$ref === "string") return { $ref: copy.$ref.replace("#/components/", "#/open/") };
  const isOpen = "additionalProperties" in copy || isPart;
  const isObject = "properties" in copy || "allOf" in copy;
  return isObject && !isOpen ? { ...copy, unevaluatedProperties: false } : copy;
}
