import type { Docs } from "../document/docs.ts";

/** `/healthz` and `/readyz` in the API document. */

export const OBSERVATION = {
  health: {
    operationId: "getHealth",
    examples: { ok: { summary: "It runs", status: 200, answer: { status: "ok" } } },
  },
  ready: {
    operationId: "getReadiness",
    headers: { 200: ["Cache-Control"], 503: ["Cache-Control"] },
    examples: {
      ready: { summary: "All parts answer", status: 200, answer: { ready: true, database: "ok", engine: "ok" } },
    },
  },
} satisfies Record<string, Docs>;
