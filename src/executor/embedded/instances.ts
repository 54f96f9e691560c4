/**
 * Process instances: made and cancelled. What happens in between is left to advance.ts, clearing ended ones to
 * ended-instances.ts.
 */

import type { Outcome } from "../port.ts";
import { applyEffects, decideAt } from "./advance.ts";
import { findDefinition, findDefinitionByKey } from "./definitions.ts";
import { removeIncidents } from "./incident-rows.ts";
import { endInstance, insertInstance, isBusinessIdInUse, readInstance } from "./instance-rows.ts";
import { removeJobs } from "./jobs.ts";
import type { Definition } from "./models.ts";
import type { Payload } from "./payloads.ts";
import { incidentsOf, jobsOf } from "./tokens.ts";
import { encodeVariables } from "./variables.ts";
import { alreadyExists, assertFound, invalidState, notFound, succeeded, type Work } from "./work.ts";

/** Starts an instance of a process. Unknown process, version or key: not found. */
export function createInstance(work: Work, payload: Payload<"PROCESS_INSTANCE:CREATE">): Outcome {
  const definition = definitionFor(work, payload);
  if (definition === undefined) return notFound(notDeployed(payload));
  const { businessId = null, tags = [] } = payload;
  const variables = encodeVariables(payload.variables);
  if (variables.kind === "refused") return refused(variables.why);
  if (businessId !== null && isBusinessIdInUse(work, businessId)) {
    return alreadyExists(`An active process instance has the business id ${JSON.stringify(businessId)} already.`);
  }
  const seq = work.keys.next();
  const position = { tokens: [], variables: () => payload.variables };
  const decided = decideAt(work, definition, position, { kind: "started" });
  if (decided.kind === "refused") return refused(decided.why);

  const text = decided.variables ?? variables.text;
  const { tokens } = decided;
  insertInstance(work, { seq, definition: definition.seq, businessId, tags, tokens, variables: text });
  applyEffects(work, seq, decided.effects);
  const processInstanceKey = work.keys.format(seq);
  if (payload.details !== true) return succeeded({ processInstanceKey });
  return succeeded({
    processInstanceKey,
    processDefinitionId: definition.processId,
    processDefinitionVersion: definition.version,
    processDefinitionKey: work.keys.format(definition.seq),
    tags,
    businessId,
  });
}

/** Terminates an active instance; its jobs, timers and open incidents are gone. Ended or unknown: not found. */
export function cancelInstance(work: Work, payload: Payload<"PROCESS_INSTANCE:CANCEL">): Outcome {
  const seq = work.keys.parse(payload.processInstanceKey);
  const instance = seq === null ? undefined : readInstance(work, seq);
  if (instance === undefined) {
    return notFound(`Process instance ${payload.processInstanceKey} does not exist or has ended.`);
  }
  removeJobs(work, jobsOf(instance.tokens));
  removeIncidents(work, incidentsOf(instance.tokens));
  endInstance(work, instance, "terminated", instance.done, null);
  return succeeded();
}

function definitionFor(work: Work, payload: Payload<"PROCESS_INSTANCE:CREATE">): Definition | undefined {
  if (payload.processDefinitionKey !== undefined) return findDefinitionByKey(work, payload.processDefinitionKey);
  return findDefinition(work, assertFound(payload.processId, "the process to start"), payload.version);
}

function notDeployed({ processId, version, processDefinitionKey }: Payload<"PROCESS_INSTANCE:CREATE">): string {
  if (processDefinitionKey !== undefined) return `No process of the key ${processDefinitionKey} is deployed.`;
  const wanted = version === undefined || version === -1 ? "" : `version ${version} of `;
  return `No ${wanted}process ${JSON.stringify(processId)} is deployed.`;
}

function refused(why: string): Outcome {
  return invalidState(`The variables of the new process instance ${why}.`);
}
