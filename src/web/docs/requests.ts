import type { Answer, ApiDocument, Route } from "./document.ts";
import { answerOf } from "./document.ts";

/** The requests that an API document shows, put together from its parts of one name; and the same as curl commands. */

export interface ShownRequest {
  readonly name: string;
  readonly summary: string;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: { readonly type: string; readonly value: unknown };
  /** What it is answered: its status, and its body where it has one. */
  readonly status: string;
  readonly isBodiless: boolean;
  readonly answer: unknown;
}

/** A route's example requests; one without a name for a route that has nothing to show. */
export function requestsOf(document: ApiDocument, { operation }: Route): ShownRequest[] {
  const { parameters = [], requestBody, responses } = operation;
  const bodies = Object.entries(requestBody?.content ?? {}).flatMap(([type, { examples = {} }]) =>
    Object.entries(examples).map(([name, shown]) => ({ name, type, ...shown })),
  );
  const successes = Object.entries(responses)
    .map(([status, answer]) => [status, answerOf(document, answer)] as const)
    .filter(([status]) => status.startsWith("2"));
  const answers = successes.flatMap(([status, answer]) => examplesIn(answer).map((shown) => ({ status, ...shown })));
  const given = parameters.flatMap(({ name: parameter, in: part, examples = {} }) =>
    Object.entries(examples).map(([name, shown]) => ({ name, parameter, part, ...shown })),
  );
  const silent = successes.find(([, { content }]) => content === undefined)?.[0];
  const names = [...new Set([...bodies, ...answers, ...given].map(({ name }) => name))];
  return (names.length === 0 ? [""] : names).map((name) => {
    const of = (part: string) =>
      Object.fromEntries(
        given.filter((one) => one.name === name && one.part === part).map((one) => [one.parameter, String(one.value)]),
      );
    const body = bodies.find((one) => one.name === name);
    const answer = answers.find((one) => one.name === name);
    const status = answer?.status ?? silent ?? successes[0]?.[0] ?? "";
    const summary = [...bodies, ...answers, ...given].find((one) => one.name === name)?.summary ?? "";
    return {
      name,
      summary,
      path: of("path"),
      query: of("query"),
      headers: of("header"),
      ...(body === undefined ? {} : { body }),
      status,
      isBodiless: status === silent,
      answer: answer?.value,
    };
  });
}

function examplesIn({ content = {} }: Answer) {
  return Object.values(content).flatMap(({ examples = {} }) =>
    Object.entries(examples).map(([name, shown]) => ({ name, ...shown })),
  );
}

/** The path of a request with its values in place, and its query. */
export function addressOf(path: string, values: Pick<ShownRequest, "path" | "query">): string {
  const filled = path.replace(/\{(\w+)\}/g, (_braces, name: string) => encodeURIComponent(values.path[name] ?? ""));
  const query = new URLSearchParams(Object.entries(values.query).filter(([, value]) => value !== "")).toString();
  return query === "" ? filled : `${filled}?${query}`;
}

/** A request as a command for a POSIX shell. Credentials are variables of the shell, so that none is written down. */
export function curlOf(origin: string, { method, path, operation }: Route, request: ShownRequest): string {
  const credential = credentialVariable(operation.security);
  const lines = [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${quoted(origin + addressOf(path, request))}`,
    ...(credential === null ? [] : [`-H "Authorization: Bearer $${credential}"`]),
    ...Object.entries(request.headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(request.body === undefined ? [] : bodyLines(request.body)),
  ];
  return lines.join(" \\\n  ");
}

/** What a route's credential is called in commands; null: it needs none. */
function credentialVariable(security: Route["operation"]["security"] = []): string | null {
  const first = security.flatMap((one) => Object.keys(one))[0];
  const needsNone = security.length === 0 || security.some((one) => Object.keys(one).length === 0);
  if (first === undefined || (needsNone && first !== "tenantKey")) return null;
  return first === "adminToken" ? "ADMIN_TOKEN" : "TENANT_KEY";
}

/** What the file is called that a form sends in commands. */
export const FILE_NAME = "order.bpmn";

/** What is in that file; null: the body is no form with a file. */
export function fileOf({ type, value }: NonNullable<ShownRequest["body"]>): string | null {
  if (type !== "multipart/form-data") return null;
  const [first] = Object.values(Object(value)).flat();
  return typeof first === "string" ? first : null;
}

function bodyLines({ type, value }: NonNullable<ShownRequest["body"]>): string[] {
  const fields = Object.entries(Object(value));
  if (type === "application/x-www-form-urlencoded") {
    return fields.map(([name, text]) => `--data-urlencode ${quoted(`${name}=${text}`)}`);
  }
  if (type === "multipart/form-data") return fields.map(([name]) => `-F ${quoted(`${name}=@${FILE_NAME}`)}`);
  return [`-H ${quoted(`Content-Type: ${type}`)}`, `-d ${quoted(JSON.stringify(value))}`];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
