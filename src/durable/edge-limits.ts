import { EdgeLimits } from "../core/edge-limits.ts";

/**
 * Plain data in module scope: what this isolate has leased, and which limits it knows to be used up. Made by the first
 * request: there is no chance before.
 */
let edge: EdgeLimits | undefined;

export function edgeLimits(): EdgeLimits {
  edge ??= new EdgeLimits(Math.random());
  return edge;
}
