import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "../shared/dialog.tsx";
import { type Answer, type Fault, inWords } from "./admin.ts";

/** Doing something: one thing at a time, with what came of it beside the button, and a second question before harm. */

export interface Doing {
  readonly isUnderWay: boolean;
  /** What the last try met; null: it went well, or there was none. */
  readonly fault: Fault | null;
  /** Takes back what the last try met: what was sent then is being changed. */
  clear(): void;
  /** @returns what was answered; null when another try was still under way */
  run<T>(ask: () => Promise<Answer<T>>): Promise<Answer<T> | null>;
}

export function useDoing(): Doing {
  const [state, setState] = useState<{ isUnderWay: boolean; fault: Fault | null }>({ isUnderWay: false, fault: null });
  return {
    ...state,
    clear: () => setState((now) => (now.fault === null ? now : { ...now, fault: null })),
    run: async (ask) => {
      if (state.isUnderWay) return null;
      setState({ isUnderWay: true, fault: null });
      const answer = await ask();
      setState({ isUnderWay: false, fault: answer.kind === "ok" ? null : answer });
      return answer;
    },
  };
}

/** What is wrong with one field of what was sent. @param path dotted, as the route names it */
export function faultAt(fault: Fault | null, path: string): string | undefined {
  if (fault?.kind !== "problem") return undefined;
  const message = fault.errors.find((one) => one.path === path)?.message;
  return message?.startsWith(NOT_A_NUMBER) ? "must be a number" : message;
}

/** What a schema says of a text where a number belongs. */
const NOT_A_NUMBER = "Invalid input: expected number";

/** What was met, in words. Faults of fields are said at the fields that show them; others are listed here. */
export function FaultNote({ fault, shown = [] }: { readonly fault: Fault | null; readonly shown?: readonly string[] }) {
  const errors = fault?.kind === "problem" ? fault.errors : [];
  const others = errors.filter(({ path }) => !shown.includes(path));
  return (
    <div role="alert">
      {fault !== null && (
        <div class="notice" data-tone="bad">
          <p>
            {errors.length > 0
              ? `Nothing was changed${errors.length > others.length ? ": see the marked fields" : ""}.`
              : inWords(fault)}
          </p>
          <ul>
            {others.map(({ path, message }) => (
              <li key={path}>
                <code>{path}</code> {message}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

export interface ActionButtonProps {
  readonly label: string;
  /** For those who hear it among others of the same label: what it is about. */
  readonly about?: string;
  readonly tone?: "primary" | "danger";
  /** Asked before it is done; without it, it is done at once. */
  readonly question?: { readonly title: string; readonly text: ComponentChildren };
  readonly run: () => Promise<Answer<unknown>>;
  /** After it went well: where the focus goes when the button is gone, say. */
  readonly after?: () => void;
}

export function ActionButton({ label, about, tone, question, run, after }: ActionButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const doing = useDoing();
  const go = async () => {
    const answer = await doing.run(run);
    if (answer?.kind !== "ok") return;
    setAsking(false);
    // Once the dialog has gone, and has given the focus back to this button.
    if (after !== undefined) setTimeout(after, 0);
  };
  return (
    <>
      <button
        type="button"
        class={tone}
        disabled={doing.isUnderWay}
        onClick={() => (question === undefined ? go() : setAsking(true))}
      >
        {label}
        {about !== undefined && <span class="visually-hidden"> {about}</span>}
      </button>
      {question === undefined && <FaultNote fault={doing.fault} />}
      {isAsking && question !== undefined && (
        <Dialog title={question.title} onClose={() => setAsking(false)}>
          <div class="stack">
            <div>{question.text}</div>
            <FaultNote fault={doing.fault} />
            <div class="buttons">
              <button type="button" onClick={() => setAsking(false)}>
                Leave it
              </button>
              <button type="button" class={tone ?? "primary"} disabled={doing.isUnderWay} onClick={go}>
                {label}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
