/**
 * The token game: how the tokens of one instance move when something happens, by the rules of BPMN. Pure: tokens and
 * variables in, tokens, variables and effects out; what is written, and where, is the caller's business.
 *
 * A token that comes to an element goes on at once or rests there (tokens.ts). What cannot go on as the model says
 * becomes an incident and rests too: an event never fails. One event is bounded by STEPS_PER_COMMAND_MAX.
 */

import type { Element, ProcessModel } from "./bpmn/model.ts";
import {
  type Effect,
  type GameEvent,
  type Play,
  type Position,
  STEPS_PER_COMMAND_MAX,
  type Supplies,
  TOKENS_MAX,
} from "./game-events.ts";
import { arrival, departure, flowsOut, GOES_ON, type Move, type NewJob, outputsOf, type Stuck } from "./moves.ts";
import { Scope } from "./scope.ts";
import { elementOf, type Rest, type Resume, type Token } from "./tokens.ts";
import { mergeVariables } from "./variables.ts";

/** Plays one event until every token rests or is gone. */
export function play(model: ProcessModel, position: Position, event: GameEvent, supplies: Supplies): Play {
  const game = new Game(model, position, supplies);
  game.begin(event);
  game.run();
  return game.result();
}

/** A token on its way. */
interface Step {
  readonly key: number;
  readonly at: string;
  readonly resume: Resume;
}

/** The least time between two timers of an instance that nothing but time moves on, in milliseconds. */
const TIMER_AFTER_TIMER_MS = 1_000;

class Game {
  readonly #model: ProcessModel;
  readonly #supplies: Supplies;
  readonly #scope: Scope;
  readonly #effects: Effect[] = [];
  readonly #steps: Step[] = [];
  #resting: Token[];
  #isByTimer = false;

  constructor(model: ProcessModel, { tokens, variables }: Position, supplies: Supplies) {
    this.#model = model;
    this.#supplies = supplies;
    this.#scope = new Scope(variables);
    this.#resting = [...tokens];
  }

  /** Sets the tokens on their way that the event moves. */
  begin(event: GameEvent): void {
    switch (event.kind) {
      case "started":
        this.#send(this.#model.start, { kind: "leave", brought: {} });
        break;
      case "job-completed":
        for (const { key, at } of this.#lift(hasJob(event.job))) {
          const isMapped = outputsOf(elementOf(this.#model, at)).length > 0;
          const brought = isMapped ? mergeVariables(event.locals, event.variables) : event.variables;
          this.#send(at, { kind: "leave", brought }, key);
        }
        break;
      case "error-caught":
        for (const _job of this.#lift(hasJob(event.job))) {
          this.#send(event.boundary, { kind: "leave", brought: event.variables });
        }
        break;
      case "timers-due":
        this.#isByTimer = true;
        for (const { key, at } of this.#liftDue()) this.#send(at, { kind: "leave", brought: {} }, key);
        break;
      case "timers-refused":
        for (const { key, at } of this.#liftDue()) {
          const step: Step = { key, at, resume: { kind: "leave", brought: {} } };
          this.#stick([step], { type: "IO_MAPPING_ERROR", message: event.message });
        }
        break;
      case "incident-resolved":
        for (const { key, at, rest } of this.#lift(isStuckBy(event.incident))) {
          if (rest.kind === "stuck") this.#send(at, rest.resume, key);
        }
        break;
      default:
        event satisfies never;
    }
  }

  run(): void {
    for (let taken = 0; this.#steps.length > 0; taken++) {
      if (taken === STEPS_PER_COMMAND_MAX) {
        const message = `More than STEPS_PER_COMMAND_MAX of ${STEPS_PER_COMMAND_MAX} elements without waiting: a loop?`;
        this.#stick(this.#steps.splice(0), { type: "UNKNOWN", message });
        return;
      }
      const step = this.#steps.shift();
      if (step !== undefined) this.#take(step, elementOf(this.#model, step.at));
    }
  }

  result(): Play {
    return { tokens: this.#resting, variables: this.#scope.changes, effects: this.#effects };
  }

  /** A timer that another one leads to takes a moment, however short it is: a loop of them costs its tenant nothing. */
  #withDelay(move: Move): Move {
    if (!this.#isByTimer || move.kind !== "waits-until") return move;
    return { ...move, dueMs: Math.max(move.dueMs, this.#supplies.nowMs + TIMER_AFTER_TIMER_MS) };
  }

  #take(step: Step, element: Element): void {
    const move = this.#moveOf(step, element);
    switch (move.kind) {
      case "goes-on":
        this.#goOn(step, element);
        break;
      case "waits-for-job":
        this.#createJob(step, move.job);
        break;
      case "waits-until":
        this.#rest(step, { kind: "timer", dueMs: move.dueMs });
        break;
      case "joins":
        this.#join(step, move.incoming, move.flow);
        break;
      case "is-stuck":
        this.#stick([step], move);
        break;
      case "ends":
        break;
      default:
        move satisfies never;
    }
  }

  #moveOf(step: Step, element: Element): Move {
    switch (step.resume.kind) {
      case "enter":
        return this.#withDelay(arrival(element, step.resume.flow, this.#scope, this.#supplies.nowMs));
      case "leave":
        return departure(element, step.resume.brought, this.#scope);
      case "take":
        return GOES_ON;
      default:
        return step.resume satisfies never;
    }
  }

  #createJob(step: Step, { type, retries, locals }: NewJob): void {
    const job = this.#supplies.nextKey();
    this.#effects.push({ kind: "job-created", job, element: step.at, elementKey: step.key, type, retries, locals });
    this.#rest(step, { kind: "job", job });
  }

  /** A token for each flow that is taken; none when the element has no flow out: the path ends there. */
  #goOn(step: Step, element: Element): void {
    const going: Step = { ...step, resume: { kind: "take" } };
    const out = flowsOut(element, this.#scope);
    if (!out.ok) {
      this.#stick([going], out);
    } else if (this.#resting.length + this.#steps.length + out.flows.length > TOKENS_MAX) {
      const message = `The instance would have more than TOKENS_MAX of ${TOKENS_MAX} tokens.`;
      this.#stick([going], { type: "UNKNOWN", message });
    } else {
      for (const { id, target } of out.flows) {
        this.#send(target, { kind: "enter", flow: id });
      }
    }
  }

  /** Waits until there is a token on each flow that comes in, and then takes one of each: more wait for the next time. */
  #join(step: Step, incoming: readonly string[], flow: string): void {
    this.#rest(step, { kind: "join", flow });
    const firstBy = new Map<string, Token>();
    for (const token of this.#resting) {
      if (token.at !== step.at || token.rest.kind !== "join") continue;
      if (!firstBy.has(token.rest.flow)) firstBy.set(token.rest.flow, token);
    }
    if (!incoming.every((id) => firstBy.has(id))) return;
    const joined = new Set(firstBy.values());
    this.#resting = this.#resting.filter((token) => !joined.has(token));
    this.#goOn(step, elementOf(this.#model, step.at));
  }

  /** @param key of the element instance; a fresh one when the token has not been there before */
  #send(at: string, resume: Resume, key = this.#supplies.nextKey()): void {
    this.#steps.push({ key, at, resume });
  }

  #rest(step: Step, rest: Rest): void {
    this.#resting.push({ key: step.key, at: step.at, rest });
  }

  /** One incident for tokens that are stuck for one reason, at the first one's element. */
  #stick(steps: readonly Step[], { type, message }: Stuck): void {
    const [first] = steps;
    if (first === undefined) return;
    const incident = this.#supplies.nextKey();
    for (const step of steps) this.#rest(step, { kind: "stuck", incident, resume: step.resume });
    const { at: element, key: elementKey } = first;
    this.#effects.push({ kind: "incident-opened", incident, element, elementKey, type, message });
  }

  #lift(which: (token: Token) => boolean): Token[] {
    const lifted = this.#resting.filter(which);
    this.#resting = this.#resting.filter((token) => !which(token));
    return lifted;
  }

  #liftDue(): Token[] {
    const dueOf = ({ rest }: Token) => (rest.kind === "timer" ? rest.dueMs : Number.POSITIVE_INFINITY);
    return this.#lift((token) => dueOf(token) <= this.#supplies.nowMs).sort((a, b) => dueOf(a) - dueOf(b));
  }
}

function hasJob(job: number): (token: Token) => boolean {
  return ({ rest }) => rest.kind === "job" && rest.job === job;
}

function isStuckBy(incident: number): (token: Token) => boolean {
  return ({ rest }) => rest.kind === "stuck" && rest.incident === incident;
}
