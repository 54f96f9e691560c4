/**
 * What the token game takes and gives: what can happen to an instance, and what the caller must write then. Plain data;
 * the rules are in token-game.ts.
 */

import type { JsonObject } from "../../core/json.ts";
import type { Stuck } from "./moves.ts";
import type { Token } from "./tokens.ts";

/** Elements that one event may walk through. A loop that waits for nothing would hold the engine for ever. */
export const STEPS_PER_COMMAND_MAX = 1000;
/** Tokens of one instance: they are kept in its row, and a loop around a fork would make them without end. */
export const TOKENS_MAX = 1000;

/** What happens to an instance. */
export type GameEvent =
  | { readonly kind: "started" }
  /** `locals` are what the task had for itself, `variables` what its worker has made. */
  | {
      readonly kind: "job-completed";
      readonly job: number;
      readonly locals: JsonObject;
      readonly variables: JsonObject;
    }
  /** The job's element goes, and the token goes on from the boundary event that catches the error. */
  | {
      readonly kind: "error-caught";
      readonly job: number;
      readonly boundary: string;
      readonly variables: JsonObject;
    }
  /** All timers that are due go off, in the order of their times. */
  | { readonly kind: "timers-due" }
  /** As above, but what they would make cannot be stored. */
  | { readonly kind: "timers-refused"; readonly message: string }
  | { readonly kind: "incident-resolved"; readonly incident: number };

/** What the caller must write besides the tokens and variables. */
export type Effect =
  | {
      readonly kind: "job-created";
      readonly job: number;
      readonly element: string;
      readonly elementKey: number;
      readonly type: string;
      readonly retries: number;
      /** Encoded; null: none. */
      readonly locals: string | null;
    }
  | {
      readonly kind: "incident-opened";
      readonly incident: number;
      readonly element: string;
      readonly elementKey: number;
      readonly type: Stuck["type"];
      readonly message: string;
    };

export interface Play {
  /** None: the instance has ended. */
  readonly tokens: readonly Token[];
  /** What the variables have become; null: as before. */
  readonly variables: JsonObject | null;
  readonly effects: readonly Effect[];
}

/** An instance as an event finds it. */
export interface Position {
  readonly tokens: readonly Token[];
  /** Called when they are needed, at most once. */
  readonly variables: () => JsonObject;
}

/** Time and fresh keys, which are arguments. */
export interface Supplies {
  readonly nowMs: number;
  /** A key that was never given out before, for an element instance, a job or an incident. */
  readonly nextKey: () => number;
}
