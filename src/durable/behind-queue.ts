import { UpstreamExecutor } from "../executor/upstream/deliver.ts";
import { Dispatcher } from "./dispatcher.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { Works } from "./works.ts";
import { Writer } from "./writer.ts";

/**
 * What stands behind the queue: the embedded engine's writer, or delivery to the upstream that is configured.
 *
 * @param madeRoom called when places in the queue may have come free
 */
export function worksOf(parts: EngineParts, madeRoom: () => void): Works {
  const { config, line, backoff } = parts;
  if (line === null) return new Writer(parts, madeRoom);
  const executor = new UpstreamExecutor({
    url: config.UPSTREAM_URL,
    routes: config.UPSTREAM_ROUTES,
    timeoutMs: config.UPSTREAM_TIMEOUT_MS,
    responseBytesMax: config.UPSTREAM_RESPONSE_BYTES_MAX,
    authorization: config.UPSTREAM_AUTHORIZATION,
  });
  return new Dispatcher(parts, line, executor, backoff, madeRoom);
}
