/**
 * The SDK of Headgate: all that a program may import of `headgate/client`. No dependencies; Node, Workers and browsers.
 * README.md beside this file shows it at work. Retries are decided in `retry.ts`.
 */

export type { CommandError, CommandState } from "../core/command.ts";
export { isRawNumber, type Json, type JsonObject, numberText, parseJson, type RawNumber } from "../core/json.ts";
export type { PolicyReport } from "../core/policy-report.ts";
export type { FieldFault, ProblemCode } from "../core/problem.ts";
export type { CallOptions } from "./call.ts";
export { type CheckInput, type Client, createClient } from "./client.ts";
export type { CommandOptions, SendOptions } from "./commands.ts";
export type * from "./intents.ts";
export * from "./result.ts";
export type { BudgetPolicy, GiveUp } from "./retry.ts";
export type {
  ByteReader,
  ClientOptions,
  Credential,
  FetchInit,
  FetchLike,
  FetchResponse,
  HeadersSource,
  RetryOptions,
  Surroundings,
} from "./settings.ts";
export type * from "./values.ts";
export type { RunOptions } from "./wait.ts";
