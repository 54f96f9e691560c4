/**
 * The token game on the disk: an event is played on an instance as it is stored, what came of it is checked, and only
 * then written. The rules of the game are in token-game.ts.
 */

import { definitionOf } from "./definitions.ts";
import type { Effect, GameEvent, Position } from "./game-events.ts";
import { openIncident } from "./incident-rows.ts";
import { type DoneJob, endInstance, type Instance, moveInstance, readVariables } from "./instance-rows.ts";
import { addJob, removeJobs } from "./jobs.ts";
import type { Definition } from "./models.ts";
import { play } from "./token-game.ts";
import type { Token } from "./tokens.ts";
import { decodeVariables, encodeVariables } from "./variables.ts";
import { assertFound, type Work } from "./work.ts";

/** They are in one row with the variables. In UTF-16 units of JSON, which ids of elements make about bytes. */
const TOKENS_LENGTH_MAX = 512 * 1024;
/** Completed jobs that are known at a time: an instance that loops fast completes many within one lease. */
const DONE_KEPT_MAX = 20;

/** What an event would make of an instance: ready to be written, or why it cannot be. */
export type Decided =
  | {
      readonly kind: "ready";
      readonly tokens: readonly Token[];
      /** Their text; null: as before. */
      readonly variables: string | null;
      readonly effects: readonly Effect[];
    }
  /** In words that follow on the instance's name. */
  | { readonly kind: "refused"; readonly why: string };

/** Plays an event on an instance. Writes nothing. */
export function decide(work: Work, instance: Instance, event: GameEvent): Decided {
  const variables = () => decodeVariables(assertFound(readVariables(work, instance.seq), `instance ${instance.seq}`));
  return decideAt(work, definitionOf(work, instance.definition), { tokens: instance.tokens, variables }, event);
}

/** As {@link decide}, for an instance that is not on disk yet. */
export function decideAt(work: Work, { model }: Definition, position: Position, event: GameEvent): Decided {
  const { nowMs, keys } = work;
  const played = play(model, position, event, { nowMs, nextKey: () => keys.next() });
  const { tokens, effects } = played;
  const length = JSON.stringify(tokens).length;
  if (length > TOKENS_LENGTH_MAX) {
    return {
      kind: "refused",
      why: `would take ${length} characters in tokens, more than TOKENS_LENGTH_MAX of ${TOKENS_LENGTH_MAX}`,
    };
  }
  if (played.variables === null) return { kind: "ready", tokens, variables: null, effects };
  const encoded = encodeVariables(played.variables);
  if (encoded.kind === "refused") return encoded;
  return { kind: "ready", tokens, variables: encoded.text, effects };
}

/**
 * Writes what was decided.
 *
 * @param completed a job that was completed by it and whose repeat is to be known
 */
export function write(
  work: Work,
  instance: Instance,
  decided: Decided & { kind: "ready" },
  completed: DoneJob | null = null,
): void {
  const { tokens, variables } = decided;
  const done = forgetDone(work, completed === null ? instance.done : [...instance.done, completed]);
  applyEffects(work, instance.seq, decided.effects);
  if (tokens.length === 0) endInstance(work, instance, "completed", done, variables);
  else moveInstance(work, instance, { tokens, done }, variables);
}

/** Makes the jobs and incidents that tokens rest for. */
export function applyEffects(work: Work, instance: number, effects: readonly Effect[]): void {
  for (const effect of effects) {
    switch (effect.kind) {
      case "job-created":
        addJob(work, instance, effect);
        break;
      case "incident-opened":
        openIncident(work, effect.incident, { ...effect, instance, job: null });
        break;
      default:
        effect satisfies never;
    }
  }
}

/** The rows of completed jobs go when nobody can repeat their completion any more. @returns those that stay */
function forgetDone(work: Work, done: readonly DoneJob[]): readonly DoneJob[] {
  const stay = done.filter(([, untilMs]) => untilMs > work.nowMs).slice(-DONE_KEPT_MAX);
  const gone = done.filter((one) => !stay.includes(one)).map(([job]) => job);
  if (gone.length > 0) removeJobs(work, gone);
  return stay;
}
