import type { Config } from "../../config.ts";
import { ENGINE_ROUTES } from "../../core/engine-routes.ts";
import { engineReadiness } from "../../durable/engine-upkeep.ts";
import type { Api } from "../endpoint.ts";
import { ENGINE } from "../examples/engine.ts";
import { refuseOverLimit } from "../middleware/tenant-limit.ts";
import { problem } from "../problem.ts";
import { engineEndpoint } from "./engine-endpoint.ts";
import { licenseShape, topologyShape } from "./shapes.ts";

/** What clients ask a cluster for before they trust it: its topology, whether it is up, and its license. */

/** The version of the surface that is spoken here. */
const ENGINE_VERSION = "8.9.0";
const READY_RETRY_SECONDS = 5;

const { topology, status, license } = ENGINE_ROUTES;

export function registerCluster(api: Api, config: Config): void {
  engineEndpoint(
    api,
    topology,
    {
      summary: "The cluster: one broker with all partitions",
      responses: { 200: { description: "The topology", schema: topologyShape } },
      docs: ENGINE.topology,
    },
    async (c) => {
      const limited = await refuseOverLimit(c, config, topology);
      return limited instanceof Response ? limited : c.json(topologyAt(new URL(c.req.url), config.ENGINE_PARTITIONS));
    },
  );
  engineEndpoint(
    api,
    status,
    { summary: "Whether the engine answers", responses: { 204: { description: "It does" } }, docs: ENGINE.status },
    async (c) => {
      const limited = await refuseOverLimit(c, config, status);
      if (limited instanceof Response) return limited;
      const readiness = await engineReadiness(c.env, config);
      if (readiness === "ok") return c.body(null, 204);
      const detail =
        readiness === "unavailable" ? "The engine does not answer." : "The engine's disk is short of space.";
      return problem(c, { code: "unavailable", detail, retryAfterSeconds: READY_RETRY_SECONDS });
    },
  );
  engineEndpoint(
    api,
    license,
    {
      summary: "None is needed",
      responses: { 200: { description: "The license", schema: licenseShape } },
      docs: ENGINE.license,
    },
    async (c) => {
      const limited = await refuseOverLimit(c, config, license);
      if (limited instanceof Response) return limited;
      return c.json({ validLicense: false, licenseType: "unknown", isCommercial: false, expiresAt: null });
    },
  );
}

function topologyAt(url: URL, partitions: number) {
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const broker = {
    nodeId: 0,
    host: url.hostname,
    port,
    partitions: Array.from({ length: partitions }, (_, n) => ({
      partitionId: n + 1,
      role: "leader",
      health: "healthy",
    })),
    version: ENGINE_VERSION,
  };
  return {
    brokers: [broker],
    clusterId: null,
    clusterSize: 1,
    partitionsCount: partitions,
    replicationFactor: 1,
    gatewayVersion: ENGINE_VERSION,
    lastCompletedChangeId: "-1",
  };
}
