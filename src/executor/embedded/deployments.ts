/**
 * Deployments: a chain of tasks, or BPMN documents. All that a deployment brings is checked before anything is written,
 * so that it is there as a whole or not at all.
 *
 * The same content as the newest version is that version again: a deployment that is repeated, or done at each start of
 * a service, adds nothing. Content that was the newest once and is not any more is a new version, or else a roll-back by
 * deployment could not be done.
 */

import type { JsonObject } from "../../core/json.ts";
import { ROW_BYTES } from "../../core/tenant-quotas.ts";
import type { Outcome } from "../port.ts";
import { compile, type Fault } from "./bpmn/compile.ts";
import type { ProcessModel } from "./bpmn/model.ts";
import type { Task } from "./definitions.ts";
import { FEEL_STEPS_MAX } from "./feel/feel.ts";
import { DEFINITION_BYTES } from "./holdings.ts";
import { MESSAGE_LENGTH_MAX, type Payload } from "./payloads.ts";
import { assertFound, invalidArgument, quotaExceeded, succeeded, type Work } from "./work.ts";

/** A model is one value in a row, and the row must stay well under SQLite's 2 MB. In bytes of JSON. */
const MODEL_BYTES_MAX = 1024 * 1024;
/** Faults that one answer names. Whoever repairs them deploys again. */
const FAULTS_TOLD_MAX = 10;

export function deploy(work: Work, payload: Payload<"DEPLOYMENT:CREATE">): Outcome {
  if (payload.resources !== undefined) return deployDocuments(work, payload.resources);
  const processId = assertFound(payload.processId, "the process to deploy");
  const tasks = encodeTasks(assertFound(payload.tasks, "the tasks to deploy"));
  const newest = newestVersion(work, processId);
  if (newest?.tasks === tasks) return succeeded();
  if (!hasRoomFor(work, [tasks])) return noRoom();
  insertDefinition(work, { processId, version: (newest?.version ?? 0) + 1, tasks, document: null });
  return succeeded();
}

/** A process out of a document, ready to be stored. */
interface Document {
  readonly resource: string;
  readonly fingerprint: string;
  readonly model: ProcessModel;
  readonly text: string;
}

type Resource = { readonly name: string; readonly content: string };

function deployDocuments(work: Work, resources: readonly Resource[]): Outcome {
  const documents: Document[] = [];
  const budget = { steps: FEEL_STEPS_MAX };
  for (const { name, content } of resources) {
    const compiled = compile(content, budget);
    if (!compiled.ok) return invalidArgument(faultsOf(name, compiled.faults));
    if (compiled.models.length === 0) return invalidArgument(`${name}: there is no process in it.`);
    for (const model of compiled.models) {
      const text = JSON.stringify(model);
      const bytes = new TextEncoder().encode(text).byteLength;
      if (bytes > MODEL_BYTES_MAX) {
        const bound = `MODEL_BYTES_MAX of ${MODEL_BYTES_MAX}`;
        return invalidArgument(`${name}: the process ${model.processId} takes ${bytes} bytes, more than ${bound}.`);
      }
      documents.push({ resource: name, fingerprint: fingerprintOf(content), model, text });
    }
  }
  const ids = documents.map(({ model }) => model.processId);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) return invalidArgument(`The process ${twice} is in this deployment twice.`);

  const added = documents.filter((document) => !isNewest(document, newestVersion(work, document.model.processId)));
  if (
    !hasRoomFor(
      work,
      added.map(({ text }) => text),
    )
  )
    return noRoom();

  const deploymentKey = work.keys.format(work.keys.next());
  return succeeded({ deploymentKey, deployments: documents.map((document) => deployDocument(work, document)) });
}

function deployDocument(work: Work, document: Document): JsonObject {
  const { processId } = document.model;
  const newest = newestVersion(work, processId);
  const same = isNewest(document, newest) ? newest : undefined;
  const version = same?.version ?? (newest?.version ?? 0) + 1;
  const seq = same?.seq ?? insertDefinition(work, { processId, version, tasks: null, document });
  return {
    processDefinitionId: processId,
    processDefinitionVersion: version,
    processDefinitionKey: work.keys.format(seq),
    resourceName: document.resource,
  };
}

/** Whether a document is the newest version again. */
function isNewest(document: Document, newest: VersionRow | undefined): boolean {
  return newest?.fingerprint === document.fingerprint && newest.model === document.text;
}

/** Whether new versions with these texts stay within what the tenant may hold. */
function hasRoomFor(work: Work, texts: readonly string[]): boolean {
  const bytes = texts.reduce((sum, text) => sum + ROW_BYTES + text.length, 0);
  return bytes === 0 || work.holdings.hasRoom(work.tenant, "definitions", bytes);
}

function noRoom(): Outcome {
  return quotaExceeded(
    "definitions",
    "Definitions stay as long as their tenant; deploy what is needed, and less often",
  );
}

function faultsOf(resource: string, faults: readonly Fault[]): string {
  const told = faults
    .slice(0, FAULTS_TOLD_MAX)
    .map(({ elementId, message }) => (elementId === null ? message : `${elementId}: ${message}`));
  const more = faults.length > told.length ? ` (and ${faults.length - told.length} more)` : "";
  return `${resource}: ${told.join("; ")}${more}`.slice(0, MESSAGE_LENGTH_MAX);
}

type VersionRow = {
  seq: number;
  version: number;
  tasks: string | null;
  fingerprint: string | null;
  model: string | null;
};

function newestVersion(work: Work, processId: string): VersionRow | undefined {
  return work.sql
    .exec<VersionRow>(
      `SELECT seq, version, tasks, fingerprint, model FROM process_definitions
       WHERE tenant = ? AND process_id = ? ORDER BY version DESC LIMIT 1`,
      work.tenant,
      processId,
    )
    .toArray()[0];
}

interface NewDefinition {
  readonly processId: string;
  readonly version: number;
  readonly tasks: string | null;
  readonly document: Document | null;
}

function insertDefinition(work: Work, { processId, version, tasks, document }: NewDefinition): number {
  const seq = work.keys.next();
  // Before it is there: of a transaction that is undone nothing may be left in memory, and nobody looks in between.
  work.models.hasNewer(work.tenant, processId);
  const inserted = work.sql.exec<{ bytes: number }>(
    `INSERT INTO process_definitions
       (seq, tenant, process_id, version, name, version_tag, resource, fingerprint, tasks, model)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${DEFINITION_BYTES} AS bytes`,
    seq,
    work.tenant,
    processId,
    version,
    document?.model.name ?? null,
    document?.model.versionTag ?? null,
    document?.resource ?? null,
    document?.fingerprint ?? null,
    tasks,
    document?.text ?? null,
  );
  work.holdings.add(work.tenant, "definitions", inserted.one().bytes);
  return seq;
}

/** One text for one content, whatever the order of members in the request: contents are compared as texts. */
function encodeTasks(tasks: readonly Task[]): string {
  return JSON.stringify(tasks.map(({ type, retries }) => ({ type, retries })));
}

/**
 * A document's length and two 32-bit hashes (FNV-1a, from two beginnings). The model is compared besides: a collision
 * can only take a document for another that runs the same.
 */
function fingerprintOf(content: string): string {
  let low = 0x811c9dc5;
  let high = 0x01234567;
  for (let i = 0; i < content.length; i++) {
    const unit = content.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x01000193) ^ (high >>> 15);
  }
  return [content.length, low >>> 0, high >>> 0].map((part) => part.toString(16)).join("-");
}
