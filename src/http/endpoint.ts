import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { AppEnv } from "./app-env.ts";
import { invalidFields, type Read, readJson } from "./body.ts";
import { check, plainNumbers, WOULD_BE_ROUNDED } from "./check.ts";
import type { Docs } from "./document/docs.ts";
import { readForm, readMultipart } from "./forms.ts";
import { refuseFaulty } from "./middleware/limit-caller.ts";
import { problem } from "./problem.ts";
import { readQuery } from "./query.ts";

/**
 * One route: its schemas are what checks a request and what the API document shows, so the two cannot differ.
 * Path, query and body are checked in this order, before the handler runs; a fault names its field and changes nothing.
 * The parameters of a query are those of its schema, and no others.
 */

/**
 * A JSON object as it was sent, with every member that it has: copying schemas lose a member named __proto__, and then
 * nobody can refuse it.
 */
export const jsonObject = z.custom<JsonObject>(isJsonObject, "must be a JSON object").openapi({
  type: "object",
  // Without it generators of clients take the object for an empty one.
  additionalProperties: true,
});

/** A JSON object whose numbers are calculated with here: one that would have to be rounded is a fault of its member. */
export const calculatedObject = jsonObject
  .transform((object, context): JsonObject => {
    const { value, rounded } = plainNumbers(object);
    for (const path of rounded) context.addIssue({ code: "custom", path: [...path], message: WOULD_BE_ROUNDED });
    return isJsonObject(value) ? value : object;
  })
  .openapi({ type: "object" });

/** What a route takes and gives. */
export interface Shape<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** With parameters in braces: `/v1/commands/{id}`. */
  readonly path: string;
  /** A second path of the same route. */
  readonly alsoAt?: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Answers before the body is checked, which it is given as it was sent; null: goes on. */
  readonly before?: (c: Context<AppEnv>, body: unknown) => Response | null;
  /** How the body is written; without it, as JSON. */
  readonly bodyAs?: keyof typeof BODIES;
  /** What the document shows as the body, where the check has more steps than one schema. */
  readonly documentedBody?: z.ZodType;
  /** Headers that the document shows; the handler reads them itself. */
  readonly documentedHeaders?: z.ZodObject;
  /** What a success answers: description, and the schema of its body where it has one: JSON, unless `types` says otherwise. */
  readonly responses: Readonly<Record<number, { description: string; schema?: z.ZodType; types?: readonly string[] }>>;
  /** Its name, refusals and examples. A test holds that every route has them. */
  readonly docs?: Docs;
}

/** A route of whatever input, as the API document shows it. */
export type AnyShape = Shape<z.ZodObject, z.ZodObject, z.ZodType>;

/** What each kind of body is called, and how it is read into what its schema checks. */
export const BODIES = {
  json: { type: "application/json", read: readJson },
  form: { type: "application/x-www-form-urlencoded", read: readForm },
  multipart: { type: "multipart/form-data", read: readMultipart },
} satisfies Record<string, { type: string; read: (request: Request, bytesMax: number) => Promise<Read<unknown>> }>;

export interface Input<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

/** Where routes are registered: the app, and the list that the API document is made from. */
export interface Api {
  readonly app: OpenAPIHono<AppEnv>;
  /** In the order of their registration. */
  readonly shapes: AnyShape[];
  /** The largest request body, in bytes. */
  readonly bodyBytesMax: number;
}

/** Registers a route. The handler gets what the schemas made of the request. */
export function endpoint<
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodUndefined,
>(
  api: Api,
  shape: Shape<P, Q, B>,
  handle: (c: Context<AppEnv>, input: Input<z.infer<P>, z.infer<Q>, z.infer<B>>) => Response | Promise<Response>,
): void {
  api.shapes.push(shape);
  const paths = [shape.path, ...(shape.alsoAt === undefined ? [] : [shape.alsoAt])];
  const patterns = paths.map((path) => path.replace(/\{(\w+)\}/g, ":$1"));
  const { body: schema, before } = shape;
  const { read } = BODIES[shape.bodyAs ?? "json"];
  const parameters = Object.keys(shape.query?.shape ?? {});
  api.app.on(shape.method.toUpperCase(), patterns, async (c) => {
    const flooding = refuseFaulty(c);
    if (flooding !== null) return flooding;
    const params = check(shape.params, c.req.param());
    if ("errors" in params) return problem(c, invalidFields(params.errors, "path"));
    const texts = readQuery(c.req.url, parameters);
    const query = "errors" in texts ? texts : check(shape.query, texts.value);
    if ("errors" in query) return problem(c, invalidFields(query.errors, "query"));
    // Without a schema nothing reads the body, so the handler's type has no body either.
    const body =
      schema === undefined
        ? (undefined as z.infer<B>)
        : bodyOf(c, await read(c.req.raw, api.bodyBytesMax), schema, before);
    if (body instanceof Response) return body;
    return await handle(c, { params: params.value, query: query.value, body });
  });
}

function bodyOf<B extends z.ZodType>(
  c: Context<AppEnv>,
  read: Read<unknown>,
  schema: B,
  before: AnyShape["before"],
): z.infer<B> | Response {
  if (!read.ok) return problem(c, read.problem);
  if (read.text !== undefined) c.set("bodyText", read.text);
  const answer = before?.(c, read.value) ?? null;
  if (answer !== null) return answer;
  const body = check(schema, read.value);
  return "errors" in body ? problem(c, invalidFields(body.errors, "body")) : body.value;
}
