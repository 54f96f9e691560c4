/** What the API document says before its routes: what this is, and its parts in the order in which one meets them. */

/** The version of the HTTP contract. */
const API_VERSION = "1";

export const ABOUT = {
  openapi: "3.1.0",
  info: {
    title: "Headgate",
    version: API_VERSION,
    summary: "Admission control at the edge: now, later, or no.",
    description: [
      "Headgate stands in front of an engine that can only do one thing at a time, and decides for every request: now, later, or no.",
      "An acceptance is on disk before it is answered. A refusal saves and charges nothing, names the limit that refused, and says in `Retry-After` when a new try makes sense: `429` is the caller's own limit, `503` is everybody's.",
      "Every error is `application/problem+json`; programs decide by its `code`. Every answer carries `X-Request-Id`.",
    ].join("\n\n"),
    license: { name: "MIT", identifier: "MIT" },
  },
  servers: [{ url: "/", description: "This deployment." }],
  tags: [
    {
      name: "commands",
      description: "Work for the engine: sent, asked for, cancelled; and the queue that it waits in.",
    },
    { name: "limits", description: "A caller's own limits: a decision and nothing else, and what is left." },
    {
      name: "engine",
      description:
        "The engine's own surface, Camunda 8 REST v2, for its official clients as they are. Also behind `/t/{tenant}`, for clients that can be given an address and nothing else.",
    },
    { name: "identity", description: "Short-lived tokens, for clients that know no other way." },
    {
      name: "tiers",
      description: "Named sets of limits. Off, like everything under `/admin`, without a configured token.",
    },
    {
      name: "tenants",
      description: "Who is in which tier, with limits and keys of their own, and what they have used.",
    },
    { name: "operation", description: "The engine while it runs: pause, limits, dead letters, and who changed what." },
    { name: "observation", description: "Whether the parts answer, what they count, and this document." },
  ],
};
