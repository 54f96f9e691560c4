import { z } from "@hono/zod-openapi";
import type { Config } from "../../config.ts";
import { END_STATES } from "../../core/command.ts";
import type { Problem } from "../../core/problem.ts";
import { cancelCommand, readCommand } from "../../durable/engines.ts";
import { callerKey } from "../../identity/caller.ts";
import { answer } from "../answer.ts";
import { commandJson } from "../command-json.ts";
import { refuseEarly } from "../early-refusal.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { COMMANDS } from "../examples/commands.ts";
import { hangUpOf } from "../hang-up.ts";
import { refuseEngineRead } from "../middleware/limit-caller.ts";
import { problem } from "../problem.ts";
import {
  COMMAND_COST,
  documentedBody,
  newCommandBody,
  newCommandHeaders,
  postCommand,
  WAIT_SECONDS_MAX,
} from "./new-command.ts";

/** `/v1/commands`: a command's way through the three layers, and what became of it. */

export const commandView = z
  .object({
    commandId: z.string(),
    intent: z.string().describe("What it wants of the engine."),
    state: z
      .enum(["queued", "running", ...END_STATES])
      .describe("`failed`: the rules said no. `dead`: it could not be run. `expired`: it had not begun in time."),
    attempts: z.int().describe("How often it was tried; a restart is no attempt."),
    result: z.record(z.string(), z.unknown()).optional().describe("Once it has succeeded."),
    error: z.object({ code: z.string(), message: z.string() }).optional().describe("Once it has failed, or is dead."),
    deferred: z.literal(true).optional().describe("Saved with no work planned, because the queue was full."),
    acceptedAt: z.iso.datetime(),
    startedAt: z.iso.datetime().optional(),
    finishedAt: z.iso.datetime().optional(),
    queuedAhead: z.int().optional().describe("How many go before it, while it waits."),
    estimatedWaitSeconds: z.number().optional().describe("How long that takes at the present pace: no promise."),
  })
  .openapi("Command");

const accepted = z
  .object({
    commandId: z.string(),
    state: commandView.shape.state,
    statusUrl: z.string().describe("Where to ask for its end."),
    queuedAhead: z.int().describe("How many go before it."),
    estimatedWaitSeconds: z.number().describe("How long that takes at the present pace: no promise."),
  })
  .openapi("Accepted");

const deferred = accepted.extend({ deferred: z.literal(true) }).openapi("Deferred");
const commandPath = z.object({ id: z.string().max(64) });
const waitQuery = z.object({
  wait: z
    .string()
    .regex(/^\d{1,4}$/, "must be whole seconds")
    .transform((seconds) => Math.min(Number(seconds), WAIT_SECONDS_MAX))
    .optional()
    .describe(
      `Hold the answer up to so many seconds for the command's end; more than ${WAIT_SECONDS_MAX} is ${WAIT_SECONDS_MAX}.`,
    ),
});

export function registerCommands(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "post",
      path: "/v1/commands",
      summary: "Send a command",
      tags: ["commands"],
      docs: COMMANDS.send,
      query: waitQuery,
      documentedHeaders: newCommandHeaders,
      body: newCommandBody(config),
      before: (c, body) => refuseEarly(c, config, COMMAND_COST, body),
      documentedBody: documentedBody(config),
      responses: {
        200: { description: "It ended within `Prefer: wait=N` (or `?wait=N`) seconds", schema: commandView },
        201: { description: "Accepted and on disk, with no work planned: the queue is full", schema: deferred },
        202: { description: "Accepted, and on disk", schema: accepted },
      },
    },
    (c, { query, body }) => postCommand(c, config, body, query.wait),
  );
  endpoint(
    api,
    {
      method: "get",
      path: "/v1/commands/{id}",
      summary: "A command's state; `wait` holds until it ends",
      tags: ["commands"],
      docs: COMMANDS.read,
      params: commandPath,
      query: waitQuery,
      responses: { 200: { description: "The command", schema: commandView } },
    },
    async (c, { params, query }) => {
      const refused = refuseEngineRead(c);
      if (refused !== null) return refused;
      const waitMs = (query.wait ?? 0) * 1000;
      const view = await readCommand(c.env, config, callerKey(c.get("caller")), params.id, waitMs, hangUpOf(c));
      return view === null
        ? problem(c, unknownCommand(params.id))
        : answer(c, 200, "application/json", commandJson(view));
    },
  );
  endpoint(
    api,
    {
      method: "delete",
      path: "/v1/commands/{id}",
      summary: "Cancel a command while it is queued",
      tags: ["commands"],
      docs: COMMANDS.cancel,
      params: commandPath,
      responses: { 204: { description: "Cancelled" } },
    },
    async (c, { params }) => {
      const refused = refuseEngineRead(c);
      if (refused !== null) return refused;
      const cancelled = await cancelCommand(c.env, config, callerKey(c.get("caller")), params.id);
      switch (cancelled) {
        case "cancelled":
          return c.body(null, 204);
        case "not_found":
          return problem(c, unknownCommand(params.id));
        case "not_queued":
          return problem(c, { code: "conflict", detail: "The command is no longer queued: it runs or has ended." });
      }
    },
  );
}

function unknownCommand(id: string): Problem {
  return { code: "not_found", detail: `There is no command ${JSON.stringify(id)} of yours.` };
}
