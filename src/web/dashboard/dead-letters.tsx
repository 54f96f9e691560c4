import { useState } from "preact/hooks";
import { lazily } from "../shared/lazily.tsx";
import { Time } from "../shared/time.tsx";
import { visible } from "../shared/visible.ts";
import { ActionButton } from "./action.tsx";
import { useDesk } from "./context.ts";
import { usePages } from "./pages.ts";
import { focusSection, Section, Table } from "./section.tsx";
import type { DeadLetter, DeadLetters as DeadLettersAnswer } from "./shapes.ts";

/** Commands that could not be run: looked at, sent again, or dropped. */

const Letter = lazily(() => import("./dead-letter.tsx").then((file) => file.Letter));
const ID = "dead-letters";
const EVERY_MS = 5_000;
const PAGE = 20;
const ROUTE = {
  path: `/admin/dead-letters?limit=${PAGE}`,
  everyMs: EVERY_MS,
  itemsOf: ({ deadLetters }: DeadLettersAnswer) => deadLetters,
  nextOf: ({ next }: DeadLettersAnswer) =>
    next === undefined ? null : `/admin/dead-letters?limit=${PAGE}&after=${encodeURIComponent(next)}`,
  keyOf: ({ commandId }: DeadLetter) => commandId,
};

export function DeadLetters() {
  const { items, fault, more } = usePages<DeadLettersAnswer, DeadLetter>(ROUTE);
  const [open, setOpen] = useState<string | null>(null);
  return (
    <Section
      id={ID}
      title="Dead letters"
      about="Commands that used up their attempts. Sent again, a command keeps its id, so that a backend which did it after all can tell. A command that was turned down has failed, and is not here."
      fault={fault}
    >
      {items === null && fault === null && <p class="muted">Asking …</p>}
      {items?.length === 0 && <p class="empty">None. Nothing needs to be done.</p>}
      {items !== null && items.length > 0 && (
        <Table name="Dead letters" columns={COLUMNS}>
          {items.map((letter) => (
            <Row key={letter.commandId} letter={letter} onOpen={() => setOpen(letter.commandId)} />
          ))}
        </Table>
      )}
      {more !== null && (
        <button type="button" class="more" onClick={more}>
          Show more
        </button>
      )}
      {open !== null && <Letter id={open} onClose={() => setOpen(null)} />}
    </Section>
  );
}

const COLUMNS = [
  { name: "Command" },
  { name: "Tenant" },
  { name: "Why" },
  { name: "Attempts", isNumber: true },
  { name: "Given up" },
  { name: "Actions", isHidden: true },
];

function Row({ letter, onOpen }: { readonly letter: DeadLetter; readonly onOpen: () => void }) {
  const { mayWrite, change } = useDesk();
  const { commandId, intent, tenant, attempts, error, finishedAt } = letter;
  const path = `/admin/dead-letters/${encodeURIComponent(commandId)}`;
  const after = () => focusSection(ID);
  return (
    <tr>
      <th scope="row" class="name">
        {intent}
        <br />
        <code class="muted">{commandId}</code>
      </th>
      <td class="name">{visible(tenant)}</td>
      <td class="why">{error === undefined ? "not known" : `${error.code}: ${error.message}`}</td>
      <td class="num">{attempts}</td>
      <td>{finishedAt === undefined ? "" : <Time at={finishedAt} />}</td>
      <td>
        <div class="buttons row-actions">
          <button type="button" onClick={onOpen}>
            Look<span class="visually-hidden"> at {commandId}</span>
          </button>
          {mayWrite && (
            <>
              <ActionButton
                label="Send again"
                about={commandId}
                question={{
                  title: "Send this command again?",
                  text: `${intent} of ${visible(tenant)} is queued once more, with all its attempts. Do so when what made it fail is mended.`,
                }}
                run={() => change("POST", `${path}/redrive`)}
                after={after}
              />
              <ActionButton
                label="Drop"
                about={commandId}
                tone="danger"
                question={{
                  title: "Drop this dead letter?",
                  text: `${intent} of ${visible(tenant)} leaves the list for good and is never sent again. Its command stays dead, as its caller can read.`,
                }}
                run={() => change("DELETE", path)}
                after={after}
              />
            </>
          )}
        </div>
      </td>
    </tr>
  );
}
