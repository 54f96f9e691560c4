import { z } from "@hono/zod-openapi";
import type { Config } from "../../config.ts";
import { ENGINE_ROUTES } from "../../core/engine-routes.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Api } from "../endpoint.ts";
import { ENGINE } from "../examples/engine.ts";
import { problem } from "../problem.ts";
import { DEFAULT_TENANT, engineEndpoint, keyHeader } from "./engine-endpoint.ts";
import { runCommand } from "./run-command.ts";
import { deployedShape } from "./shapes.ts";
import { foreignTenant } from "./tenant.ts";

/** `/v2/deployments`: BPMN files as a form. All of them are deployed, or none. */

/** In one deployment: each is parsed while the queue stands still. */
const RESOURCES_MAX = 50;
const RESOURCE_NAME = /\.(bpmn|xml)$/i;

const file = z
  .custom<{ name: string; content: string }>((part) => typeof part === "object", "must be a file, with a file name")
  .refine(({ name }) => RESOURCE_NAME.test(name), "must be named *.bpmn or *.xml: nothing else can be deployed here")
  .openapi({ type: "string", format: "binary" });
const deploymentForm = z
  .object({ resources: z.array(file).min(1).max(RESOURCES_MAX), tenantId: z.array(z.string()).max(1).optional() })
  .openapi("Deployment");

export function registerDeployments(api: Api, config: Config): void {
  engineEndpoint(
    api,
    ENGINE_ROUTES.deploy,
    {
      summary: "Deploy BPMN files",
      body: deploymentForm,
      bodyAs: "multipart",
      responses: { 200: { description: "All of them are deployed", schema: deployedShape } },
      documentedHeaders: keyHeader,
      docs: ENGINE.deploy,
    },
    async (c, { body: { resources, tenantId = [] } }) => {
      const foreign = foreignTenant(c, tenantId);
      if (foreign !== null) return problem(c, foreign);
      const result = await runCommand(c, config, ENGINE_ROUTES.deploy, { resources });
      return result instanceof Response ? result : c.json(shown(result));
    },
  );
}

function shown({ deploymentKey = "", deployments = [] }: JsonObject) {
  const list = Array.isArray(deployments) ? deployments.filter(isJsonObject) : [];
  return {
    deploymentKey,
    tenantId: DEFAULT_TENANT,
    deployments: list.map((process) => ({
      processDefinition: { ...process, tenantId: DEFAULT_TENANT },
      decisionDefinition: null,
      decisionRequirements: null,
      form: null,
      resource: null,
    })),
  };
}
