/** The parts of an API document (OpenAPI 3.1) that the page shows, and how they are put together. */

/** A JSON Schema, as far as our documents use it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Shown {
  readonly summary?: string;
  readonly value: unknown;
}

export interface Media {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, Shown>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, Shown>>;
}

export interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, Media>>;
}

export interface Header {
  readonly description: string;
  readonly schema: Schema;
}

export interface Scheme {
  readonly type: string;
  readonly scheme?: string;
  readonly name?: string;
  readonly description: string;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly servers?: readonly { readonly url: string }[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Answer | { readonly $ref: string }>>;
}

export interface ApiDocument {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary?: string;
    readonly description: string;
    readonly license: { readonly name: string };
  };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Answer>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly securitySchemes: Readonly<Record<string, Scheme>>;
  };
}

/** An operation where it is. */
export interface Route {
  /** In capitals. */
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export interface Group {
  readonly name: string;
  readonly description: string;
  readonly routes: readonly Route[];
}

/** The routes by tag, in the order of the document. A tag without routes is left out. */
export function groupsOf({ paths, tags }: ApiDocument): Group[] {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  return tags
    .map((tag) => ({ ...tag, routes: routes.filter(({ operation }) => operation.tags[0] === tag.name) }))
    .filter((group) => group.routes.length > 0);
}

/** Whether each word of a search is somewhere in a route's name, path or summary. */
export function isFound({ method, path, operation }: Route, search: string): boolean {
  const text =
    `${method} ${path} ${operation.operationId} ${operation.summary} ${operation.tags.join(" ")}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** What a response is, where it is one that routes share. */
export function answerOf({ components }: ApiDocument, answer: Answer | { readonly $ref: string }): Answer {
  if (!("$ref" in answer)) return answer;
  return components.responses[lastOf(answer.$ref)] ?? { description: "" };
}

/** A schema with what it refers to in place, and its `allOf` put together. */
export function whole(document: ApiDocument, schema: Schema): Schema {
  if (schema.$ref !== undefined) {
    const { $ref, ...own } = schema;
    return { ...whole(document, document.components.schemas[lastOf($ref)] ?? {}), ...own };
  }
  if (schema.allOf === undefined) return schema;
  const { allOf, ...own } = schema;
  const parts = [...allOf, own].map((part) => whole(document, part));
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map(({ properties = {} }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  };
}

/** The name that a schema has in the document; undefined: it has none. */
export function nameOf({ $ref }: Schema): string | undefined {
  return $ref === undefined ? undefined : lastOf($ref);
}

function lastOf(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}
