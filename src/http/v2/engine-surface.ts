import type { Config } from "../../config.ts";
import type { Api } from "../endpoint.ts";
import { registerActivation } from "./activation.ts";
import { registerCluster } from "./cluster.ts";
import { registerDeployments } from "./deployments.ts";
import { registerForward } from "./forward.ts";
import { registerJobs } from "./jobs.ts";
import { registerProcessInstances } from "./process-instances.ts";
import { registerSearches } from "./searches.ts";

/**
 * `/v2`: the engine's own REST surface (Camunda 8 REST v2), for its clients as they are: our engine's, or that of the
 * cluster behind us. What each route wants of the layers is in `core/engine-routes.ts`.
 */
export function registerEngineSurface(api: Api, config: Config): void {
  if (config.executor === "upstream") {
    if (config.cluster) registerForward(api, config);
    return;
  }
  registerCluster(api, config);
  registerDeployments(api, config);
  registerProcessInstances(api, config);
  registerActivation(api, config);
  registerJobs(api, config);
  registerSearches(api, config);
}
