import type { ComponentChildren, TargetedEvent } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

/** Things to fill in, each with its name, what it takes, and what is wrong with what it has. */

interface Common {
  readonly label: string;
  readonly hint?: string | undefined;
  /** What is wrong with it; said with the field when it is focused. */
  readonly fault?: string | undefined;
}

interface Wiring {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean | undefined;
}

function Labelled(props: Common & { readonly children: (wiring: Wiring) => ComponentChildren }) {
  const { label, hint, fault, children } = props;
  const id = useId();
  const described = fault !== undefined ? `${id}-fault` : hint !== undefined ? `${id}-hint` : undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": described, "aria-invalid": fault !== undefined || undefined })}
      {fault !== undefined ? (
        <span class="fault" id={`${id}-fault`}>
          {fault}
        </span>
      ) : (
        hint !== undefined && (
          <span class="hint" id={`${id}-hint`}>
            {hint}
          </span>
        )
      )}
    </div>
  );
}

export interface TextFieldProps extends Common {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: "text" | "password" | "datetime-local";
  /** For whole and other numbers: shows digits on a small keyboard. What was typed stays a text until it is sent. */
  readonly numeric?: boolean;
  /** Whether typing may begin as soon as it is shown. */
  readonly isFirst?: boolean;
  readonly autoComplete?: string;
}

export function TextField(props: TextFieldProps) {
  const { label, hint, fault, value, onValue, type = "text", numeric, isFirst, autoComplete } = props;
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isFirst) input.current?.focus();
  }, []);
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(wiring) => {
        const common = {
          ...wiring,
          ref: input,
          autoComplete,
          class: numeric ? "num" : undefined,
          spellcheck: false,
          value,
          onInput: (event: TargetedEvent<HTMLInputElement>) => onValue(event.currentTarget.value),
        };
        if (type === "password") return <input {...common} type="password" />;
        if (type === "datetime-local") return <input {...common} type="datetime-local" />;
        return <input {...common} type="text" inputMode={numeric ? "decimal" : undefined} />;
      }}
    </Labelled>
  );
}

export interface SelectFieldProps<T extends string> extends Common {
  readonly value: T;
  readonly options: readonly T[];
  readonly onValue: (value: T) => void;
}

export function SelectField<T extends string>({ label, hint, fault, value, options, onValue }: SelectFieldProps<T>) {
  const picked = (event: TargetedEvent<HTMLSelectElement>) => {
    const option = options.find((one) => one === event.currentTarget.value);
    if (option !== undefined) onValue(option);
  };
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(wiring) => (
        <select {...wiring} value={value} onChange={picked}>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

export interface CheckFieldProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly onSwitch: (isOn: boolean) => void;
}

export function CheckField({ label, isOn, onSwitch }: CheckFieldProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={(event) => onSwitch(event.currentTarget.checked)} />
      {label}
    </label>
  );
}
