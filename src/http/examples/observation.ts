import type { Docs } from "../document/docs.ts";

/** `/healthz`, `/readyz` and `/metrics` in the API document. */

export const OBSERVATION = {
  health: {
    operationId: "getHealth",
    examples: { ok: { summary: "It runs", status: 200, answer: { status: "ok" } } },
  },
  metrics: {
    operationId: "getMetrics",
    access: "open",
    description:
      "Gathered at most once a second. Without a credential everything but what names tenants; with an operator's token that too.",
    problems: ["unavailable"],
    headers: { 200: ["Cache-Control"] },
    examples: {
      prometheus: {
        summary: "For a scraper that says nothing of its wishes",
        status: 200,
        answer:
          '# HELP headgate_queue_depth Ordinary commands that wait.\n# TYPE headgate_queue_depth gauge\nheadgate_queue_depth{partition="1"} 0\n',
      },
    },
  },
  ready: {
    operationId: "getReadiness",
    limits: "told",
    headers: { 200: ["Cache-Control"], 503: ["Cache-Control"] },
    examples: {
      ready: { summary: "All parts answer", status: 200, answer: { ready: true, database: "ok", engine: "ok" } },
    },
  },
} satisfies Record<string, Docs>;
