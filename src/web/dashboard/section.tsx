import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useScroller } from "../shared/scroller.ts";
import { type Fault, inWords } from "./admin.ts";

/** A part of the page: its heading, what can be done there, and what it says while there is nothing or no answer. */

export interface SectionProps {
  /** Also the anchor of its heading. */
  readonly id: string;
  readonly title: string;
  readonly about?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** What the last question met: said above what was read before, which stays. */
  readonly fault: Fault | null;
  readonly children: ComponentChildren;
}

export function Section({ id, title, about, actions, fault, children }: SectionProps) {
  return (
    <section class="card" aria-labelledby={id}>
      <div class="section-head">
        <h2 id={id} tabIndex={-1}>
          {title}
        </h2>
        {actions !== undefined && <div class="buttons">{actions}</div>}
      </div>
      {about !== undefined && <p class="muted section-about">{about}</p>}
      {fault?.kind === "problem" && (
        <p class="notice" data-tone="warn">
          This could not be read just now. {inWords(fault)}
        </p>
      )}
      {/* What to do about it is said once, at the top of the page. */}
      {fault?.kind === "unreachable" && <p class="muted">Not up to date: Headgate cannot be reached.</p>}
      {children}
    </section>
  );
}

/** Moves the focus to a section's heading: where it goes when what had it is gone. */
export function focusSection(id: string): void {
  document.getElementById(id)?.focus();
}

export interface TableProps {
  /** What it is called while it scrolls. */
  readonly name: string;
  readonly columns: ReadonlyArray<{ readonly name: string; readonly isNumber?: boolean; readonly isHidden?: boolean }>;
  readonly children: ComponentChildren;
}

/** A table that scrolls by itself where it is wider than the page; on a narrow one its rows are cards. */
export function Table({ name: label, columns, children }: TableProps) {
  const place = useScroller<HTMLDivElement>(label);
  // On a card each cell says itself which column it is: the style sheet takes the word from here.
  useEffect(() => {
    for (const row of place.current?.querySelectorAll("tbody tr") ?? []) {
      for (const [n, cell] of [...row.children].entries()) {
        const column = columns[n];
        if (column !== undefined && !column.isHidden) cell.setAttribute("data-column", column.name);
      }
    }
  });
  return (
    <div class="scroll" ref={place}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, isNumber, isHidden }) => (
              <th key={name} scope="col" class={isNumber ? "num" : undefined}>
                {isHidden ? <span class="visually-hidden">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
