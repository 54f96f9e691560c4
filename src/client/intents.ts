import type { JsonObject } from "../core/json.ts";

/**
 * What each intent takes and gives, as types. Those of the embedded engine are here; a deployment's own are any other
 * name with a JSON object, and can be made typed by adding them to {@link Intents}:
 *
 *     declare module "headgate/client" {
 *       interface Intents { "INVOICE:PAY": { payload: { invoice: string }; result: { receipt: string } } }
 *     }
 */

/** JSON as a caller may give it: also readonly, and members that are undefined are left out. */
export type JsonInput = string | number | boolean | null | readonly JsonInput[] | JsonInputObject;
export type JsonInputObject = { readonly [member: string]: JsonInput | undefined };

/** `retries` is 3 where it is not given. */
export interface Task {
  readonly type: string;
  readonly retries?: number | undefined;
}

/** A job that was handed out. It is this caller's until `deadline` (ISO 8601). */
export interface Job {
  readonly jobKey: string;
  readonly type: string;
  readonly processInstanceKey: string;
  readonly retries: number;
  readonly deadline: string;
  readonly variables: JsonObject;
}

/** An empty object: there is nothing more to say than that it was done. */
export type NoResult = Readonly<Record<string, never>>;

export interface Intents {
  /** Makes a process known; changed content is a new version. */
  "DEPLOYMENT:CREATE": {
    payload: { readonly processId: string; readonly tasks: readonly Task[] };
    result: NoResult;
  };
  /** Starts an instance, of the newest version where none is given. */
  "PROCESS_INSTANCE:CREATE": {
    payload: {
      readonly processId: string;
      readonly version?: number | undefined;
      readonly variables?: JsonInputObject | undefined;
    };
    result: { readonly processInstanceKey: string };
  };
  "PROCESS_INSTANCE:CANCEL": {
    payload: { readonly processInstanceKey: string };
    result: NoResult;
  };
  /** Leases up to `maxJobs` (1) jobs for `timeoutSeconds` (60); one that is not completed by then is there again. */
  "JOB:ACTIVATE": {
    payload: {
      readonly type: string;
      readonly maxJobs?: number | undefined;
      readonly timeoutSeconds?: number | undefined;
    };
    result: { readonly jobs: readonly Job[] };
  };
  "JOB:COMPLETE": {
    payload: { readonly jobKey: string; readonly variables?: JsonInputObject | undefined };
    result: NoResult;
  };
  /** Gives a job back with `retries` left (one less than before); with 0 it becomes an incident. */
  "JOB:FAIL": {
    payload: {
      readonly jobKey: string;
      readonly retries?: number | undefined;
      readonly errorMessage?: string | undefined;
      readonly retryBackoffSeconds?: number | undefined;
    };
    result: { readonly incidentKey?: string };
  };
  /** Reports an error of the business, which becomes an incident. */
  "JOB:THROW_ERROR": {
    payload: {
      readonly jobKey: string;
      readonly errorCode: string;
      readonly errorMessage?: string | undefined;
      readonly variables?: JsonInputObject | undefined;
    };
    result: { readonly incidentKey: string };
  };
  /** Changes the retries of a job, its deadline (counted from now), or both. */
  "JOB:UPDATE": {
    payload: { readonly jobKey: string } & (
      | { readonly retries: number; readonly timeoutSeconds?: number | undefined }
      | { readonly retries?: number | undefined; readonly timeoutSeconds: number }
    );
    result: NoResult;
  };
  /** Gives the job of an incident back. */
  "INCIDENT:RESOLVE": {
    payload:
      | { readonly incidentKey: string; readonly jobKey?: undefined }
      | { readonly jobKey: string; readonly incidentKey?: undefined };
    result: NoResult;
  };
}

/** A name that is known here, offered by editors, or any other. */
export type IntentName = keyof Intents | (string & {});

export type PayloadOf<I extends string> = I extends keyof Intents ? Intents[I]["payload"] : JsonInputObject;
export type ResultOf<I extends string> = I extends keyof Intents ? Intents[I]["result"] : JsonObject;
