/**
 * A process as the engine runs it: what a BPMN document says, checked and reduced to what execution needs. Plain JSON,
 * so that it can be stored with its definition and read back. Made by compile.ts, or from a list of tasks (tasks.ts).
 */

/** Text that stands for itself, or a FEEL expression (without its leading `=`). */
export type Expression = { readonly literal: string } | { readonly feel: string };

/** Where a token may go. Without a condition it always may. */
export interface Flow {
  readonly id: string;
  readonly target: string;
  /** FEEL, without its leading `=`. */
  readonly condition: string | null;
}

/** `target` is a variable's name or a path to a member, with dots. */
export interface Mapping {
  readonly source: Expression;
  readonly target: string;
}

interface ElementBase {
  readonly id: string;
  readonly name: string | null;
  readonly outgoing: readonly Flow[];
}

export type Element =
  | (ElementBase & { readonly kind: "start-event"; readonly outputs: readonly Mapping[] })
  | (ElementBase & {
      readonly kind: "service-task";
      readonly jobType: Expression;
      readonly retries: Expression;
      readonly headers: Readonly<Record<string, string>>;
      readonly inputs: readonly Mapping[];
      readonly outputs: readonly Mapping[];
      /** Ids of the error boundary events at it. */
      readonly boundaries: readonly string[];
    })
  | (ElementBase & { readonly kind: "exclusive-gateway"; readonly defaultFlow: string | null })
  | (ElementBase & {
      readonly kind: "parallel-gateway";
      /** Ids of the flows that come in: a join waits for a token on each. */
      readonly incoming: readonly string[];
    })
  | (ElementBase & {
      readonly kind: "error-boundary-event";
      readonly attachedTo: string;
      /** Null: catches every error. */
      readonly errorCode: string | null;
      readonly outputs: readonly Mapping[];
    })
  | (ElementBase & {
      readonly kind: "timer-event";
      /** An ISO 8601 duration (`PT5S`), or a date and time. */
      readonly timer: { readonly type: "duration" | "date"; readonly value: Expression };
      readonly outputs: readonly Mapping[];
    })
  | (ElementBase & { readonly kind: "end-event" })
  | (ElementBase & { readonly kind: "error-end-event"; readonly errorCode: string });

export interface ProcessModel {
  readonly processId: string;
  readonly name: string | null;
  readonly versionTag: string | null;
  /** The id of its one start event. */
  readonly start: string;
  readonly elements: Readonly<Record<string, Element>>;
}
