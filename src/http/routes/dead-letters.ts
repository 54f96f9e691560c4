import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../../config.ts";
import { RETRY_AFTER_UNKNOWN_SECONDS } from "../../core/pace.ts";
import type { Problem } from "../../core/problem.ts";
import { holderOf, listDeadLetters } from "../../durable/engines.ts";
import type { DeadLetter } from "../../durable/views.ts";
import { answer } from "../answer.ts";
import type { AppEnv } from "../app-env.ts";
import { commandJson } from "../command-json.ts";
import { type Api, endpoint, jsonObject } from "../endpoint.ts";
import { auditEngine } from "../engine-audit.ts";
import { OPERATION } from "../examples/operation.ts";
import { problem } from "../problem.ts";
import { commandView } from "./commands.ts";

/** `/admin/dead-letters`: commands that could not be run. An operator looks, drops them, or sends them again. */

const deadLetterShape = commandView
  .extend({
    tenant: z.string(),
    payload: jsonObject.optional().openapi({ description: "What it would be sent again with; not in a list." }),
  })
  .openapi("DeadLetter");
const path = z.object({ id: z.string().max(64) });
const page = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(100),
  after: z.string().max(64).optional().describe("The `next` of the page before."),
});

export function registerDeadLetters(api: Api, config: Config): void {
  registerReads(api, config);
  registerWrites(api, config);
}

function registerReads(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/dead-letters",
      summary: "Commands that could not be run, oldest first",
      tags: ["operation"],
      docs: OPERATION.letters,
      query: page,
      responses: {
        200: {
          description: "A page; `next` is the `after` of the next one, where there is one",
          schema: z.object({ deadLetters: z.array(deadLetterShape), next: z.string().optional() }),
        },
      },
    },
    async (c, { query }) => {
      const deadLetters = await listDeadLetters(c.env, config, query.limit, query.after ?? null);
      const last = deadLetters.length === query.limit ? deadLetters.at(-1)?.commandId : undefined;
      const next = last === undefined ? "" : `,"next":${JSON.stringify(last)}`;
      return answer(c, 200, "application/json", `{"deadLetters":[${deadLetters.map(commandJson).join(",")}]${next}}`);
    },
  );
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/dead-letters/{id}",
      summary: "One dead letter",
      tags: ["operation"],
      docs: OPERATION.letter,
      params: path,
      responses: { 200: { description: "It", schema: deadLetterShape } },
    },
    async (c, { params }) => {
      const letter = await deadLetter(c, config, params.id);
      return letter instanceof Response ? letter : answer(c, 200, "application/json", commandJson(letter));
    },
  );
}

function registerWrites(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "delete",
      path: "/admin/dead-letters/{id}",
      summary: "Take it off the list; its command stays dead",
      tags: ["operation"],
      docs: OPERATION.removeLetter,
      params: path,
      responses: { 204: { description: "Gone" } },
    },
    async (c, { params }) => {
      const letter = await deadLetter(c, config, params.id);
      if (letter instanceof Response) return letter;
      await auditEngine(c, "dead-letter.delete", { id: params.id });
      const engine = holderOf(c.env, config, params.id);
      return (await engine?.dropDeadLetter(params.id)) ? c.body(null, 204) : problem(c, unknownLetter(params.id));
    },
  );
  endpoint(
    api,
    {
      method: "post",
      path: "/admin/dead-letters/{id}/redrive",
      summary: "Send it again, under the same id",
      tags: ["operation"],
      docs: OPERATION.redrive,
      params: path,
      responses: { 202: { description: "Queued again", schema: commandView } },
    },
    async (c, { params }) => {
      const letter = await deadLetter(c, config, params.id);
      if (letter instanceof Response) return letter;
      await auditEngine(c, "dead-letter.redrive", { id: params.id });
      const engine = holderOf(c.env, config, params.id);
      const redriven = await engine?.redrive(params.id);
      if (redriven === undefined || redriven === "not_found") return problem(c, unknownLetter(params.id));
      return redriven === "full" ? problem(c, NO_ROOM) : answer(c, 202, "application/json", commandJson(redriven));
    },
  );
}

/** A dead letter; or the answer for a command that is none. */
async function deadLetter(c: Context<AppEnv>, config: Config, id: string): Promise<DeadLetter | Response> {
  const letter = (await holderOf(c.env, config, id)?.deadLetter(id)) ?? "not_found";
  if (letter === "not_found") return problem(c, unknownLetter(id));
  if (letter !== "not_dead") return letter;
  return problem(c, { code: "conflict", detail: `The command ${JSON.stringify(id)} is not a dead letter.` });
}

const NO_ROOM: Problem = {
  code: "queue_full",
  detail: "The command queue has no room for it now. It stays a dead letter.",
  retryAfterSeconds: RETRY_AFTER_UNKNOWN_SECONDS,
};

function unknownLetter(id: string): Problem {
  return { code: "not_found", detail: `There is no dead letter ${JSON.stringify(id)}.` };
}
