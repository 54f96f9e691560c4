import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { ALGORITHMS } from "../../core/flow-control/settings.ts";
import { Dialog } from "../shared/dialog.tsx";
import { CheckField, SelectField, TextField } from "../shared/field.tsx";
import { FaultNote, faultAt, useDoing } from "./action.tsx";
import { useDesk } from "./context.ts";
import { changeInWords, changeOf, type FlowForm, formOf } from "./flow-change.ts";
import type { FlowControl } from "./shapes.ts";

/** Changing flow control: first what is wanted, then once more what that changes. */

interface FlowDialogProps {
  readonly flow: FlowControl;
  readonly onClose: () => void;
}

export function FlowDialog({ flow, onClose }: FlowDialogProps) {
  const { change: send } = useDesk();
  // As it was when the dialog was opened: what is typed must not be measured against something that moves.
  const [base] = useState(flow);
  const [form, setForm] = useState(() => formOf(flow));
  const [isSure, setSure] = useState(false);
  const doing = useDoing();
  const change = changeOf(base, form);
  const lines = changeInWords(base, change);
  const submit = async (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (lines.length === 0) return onClose();
    if (!isSure) return setSure(true);
    const answer = await doing.run(() => send("PATCH", "/admin/flow-control", change));
    if (answer?.kind === "ok") onClose();
    else setSure(false);
  };
  const edited = (part: Partial<FlowForm>) => {
    setSure(false);
    setForm({ ...form, ...part });
  };
  return (
    <Dialog title="Change flow control" onClose={onClose}>
      <form class="stack" onSubmit={submit} onInput={doing.clear} noValidate>
        <Fields form={form} isOtherAlgorithm={form.algorithm !== base.algorithm} doing={doing} onEdit={edited} />
        <FaultNote
          fault={doing.fault}
          shown={SHOWN.concat(Object.keys(form.parameters).map((name) => `parameters.${name}`))}
        />
        <div role="status">
          {isSure && (
            <div class="notice" data-tone="warn">
              <p>This holds at once, for everybody:</p>
              <ul>
                {lines.map((line) => (
                  <li key={line}>
                    <code>{line}</code>
                  </li>
                ))}
              </ul>
            </div>
          )}
        </div>
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" class="primary" disabled={doing.isUnderWay}>
            {isSure ? "Change it" : lines.length === 0 ? "Nothing to change" : "Look it over"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const SHOWN = [
  "bound",
  "boundBytes",
  "enqueueWaitMs",
  "writeRate.perSecond",
  "writeRate.burst",
  "writeRate.warmUpSeconds",
];

interface FieldsProps {
  readonly form: FlowForm;
  readonly isOtherAlgorithm: boolean;
  readonly doing: ReturnType<typeof useDoing>;
  readonly onEdit: (part: Partial<FlowForm>) => void;
}

function Fields({ form, isOtherAlgorithm, doing, onEdit }: FieldsProps) {
  const number = (name: keyof FlowForm & string, label: string, hint?: string, path: string = name) => (
    <TextField
      label={label}
      hint={hint}
      fault={faultAt(doing.fault, path)}
      numeric
      value={String(form[name])}
      onValue={(value) => onEdit({ [name]: value })}
    />
  );
  return (
    <>
      <div class="fields">
        {number("bound", "Queue bound, commands")}
        {number("boundBytes", "Queue bound, bytes")}
        {number("enqueueWaitMs", "Wait for room, ms", "0: refused at once")}
        <SelectField
          label="Limit in flight"
          value={form.algorithm}
          options={ALGORITHMS}
          onValue={(algorithm) => onEdit({ algorithm })}
        />
      </div>
      {isOtherAlgorithm && form.algorithm !== "none" && (
        <p class="muted">{form.algorithm} starts with its defaults; its parameters can be changed after that.</p>
      )}
      {!isOtherAlgorithm && form.algorithm !== "none" && (
        <div class="fields">
          {Object.entries(form.parameters).map(([name, value]) => (
            <TextField
              key={name}
              label={name}
              fault={faultAt(doing.fault, `parameters.${name}`)}
              numeric
              value={value}
              onValue={(typed) => onEdit({ parameters: { ...form.parameters, [name]: typed } })}
            />
          ))}
        </div>
      )}
      <CheckField
        label="Let the limit move once a second instead of with each command"
        isOn={form.windowed}
        onSwitch={(windowed) => onEdit({ windowed })}
      />
      <CheckField
        label="Limit the commands that are written a second"
        isOn={form.isWriteLimited}
        onSwitch={(isWriteLimited) => onEdit({ isWriteLimited })}
      />
      {form.isWriteLimited && (
        <div class="fields">
          {number("perSecond", "Writes a second", undefined, "writeRate.perSecond")}
          {number("burst", "Burst", undefined, "writeRate.burst")}
          {number("warmUpSeconds", "Warm-up, s", undefined, "writeRate.warmUpSeconds")}
        </div>
      )}
    </>
  );
}
