import { UpstreamExecutor } from "../executor/upstream/deliver.ts";
import { Dispatcher } from "./dispatcher.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { WorkHooks, Works } from "./works.ts";
import { Writer } from "./writer.ts";

/**
 * What stands behind the queue: the embedded engine's writer, or delivery to the upstream that is configured.
 */
export function worksOf(parts: EngineParts, hooks: WorkHooks): Works {
  const { config, line, backoff } = parts;
  if (line === null) return new Writer(parts, hooks);
  const executor = new UpstreamExecutor({
    url: config.UPSTREAM_URL,
    routes: config.routes,
    timeoutMs: config.UPSTREAM_TIMEOUT_MS,
    responseBytesMax: config.UPSTREAM_RESPONSE_BYTES_MAX,
    authorization: config.UPSTREAM_AUTHORIZATION,
  });
  return new Dispatcher(parts, line, executor, backoff, hooks);
}
