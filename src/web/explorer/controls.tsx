import { useEffect, useState } from "preact/hooks";
import { BURST } from "../../sim/burst.ts";
import type { Address } from "./address.ts";
import { BOUND, DEFAULTS, RATE, runOf, type Settings, typedBound, USUAL_BOUND, WORKERS } from "./settings.ts";

/** What can be set, with the browser's own inputs. A control that moves is followed at once, and kept when it rests. */

/** Settings that are worth a look. */
const EXAMPLES: readonly { readonly name: string; readonly settings: Settings }[] = [
  { name: "No bound: everyone waits", settings: { ...DEFAULTS, bound: null } },
  { name: "A bound of 100", settings: DEFAULTS },
  { name: "Twice the workers, same quota", settings: { ...DEFAULTS, workers: 4 } },
  { name: "Workers that keep up", settings: { rate: 2, workers: 2, bound: USUAL_BOUND, quota: false, view: "start" } },
];

export function Controls({ address }: { readonly address: Address }) {
  const { settings, show, keep } = address;
  const slider = (name: "rate" | "workers", label: string, range: typeof RATE, said: string) => (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        type="range"
        {...range}
        step={1}
        value={settings[name]}
        aria-valuetext={said}
        onInput={({ currentTarget }) => show({ ...settings, [name]: currentTarget.valueAsNumber })}
        onChange={({ currentTarget }) => keep({ ...settings, [name]: currentTarget.valueAsNumber }, name)}
      />
      <output for={name} class="num">
        {said}
      </output>
    </div>
  );
  return (
    <form class="card x-controls" aria-label="Settings" onSubmit={(event) => event.preventDefault()}>
      {slider("rate", "Jobs that arrive", RATE, `${settings.rate} a second, for ${BURST.seconds} s`)}
      {slider("workers", "Workers", WORKERS, workersSaid(settings.workers))}
      <BoundControl {...address} />
      <div class="x-check">
        <input
          id="quota"
          type="checkbox"
          checked={settings.quota}
          aria-describedby="quota-hint"
          onChange={({ currentTarget }) => keep({ ...settings, quota: currentTarget.checked }, null)}
        />
        <label for="quota">The backend has a quota</label>
        <p id="quota-hint" class="muted">
          50 jobs may start at once, then 50 a minute
        </p>
      </div>
      <fieldset class="x-examples">
        <legend>Examples</legend>
        {EXAMPLES.map((example) => (
          <button
            key={example.name}
            type="button"
            aria-pressed={runOf(example.settings) === runOf(settings)}
            onClick={() => keep({ ...example.settings, view: settings.view }, null)}
          >
            {example.name}
          </button>
        ))}
      </fieldset>
    </form>
  );
}

function workersSaid(workers: number): string {
  return `${workers} ${workers === 1 ? "worker" : "workers"}, ${BURST.slots * workers} jobs at a time`;
}

/** On or off, and how many: a slider for a quick look, a number for an exact one. */
function BoundControl({ settings, show, keep }: Address) {
  const [last, setLast] = useState(settings.bound ?? USUAL_BOUND);
  const [typed, setTyped] = useState<string | null>(null);
  // Whatever changes the bound from elsewhere ends what was being typed.
  useEffect(() => {
    if (settings.bound !== null) setLast(settings.bound);
    setTyped((text) => (text !== null && typedBound(text) === settings.bound ? text : null));
  }, [settings.bound]);
  const isOn = settings.bound !== null;
  const isWrong = isOn && typed !== null && typedBound(typed) === null;
  const type = (text: string) => {
    setTyped(text);
    const bound = typedBound(text);
    if (bound !== null) show({ ...settings, bound });
  };
  return (
    <fieldset class="x-bound">
      <legend>Bound of the queue</legend>
      <div class="x-check">
        <input
          id="bounded"
          type="checkbox"
          checked={isOn}
          onChange={({ currentTarget }) => keep({ ...settings, bound: currentTarget.checked ? last : null }, null)}
        />
        <label for="bounded">The queue has a bound</label>
      </div>
      <div class="x-amount">
        <input
          id="bound"
          type="range"
          aria-label="Jobs that may wait"
          {...BOUND}
          value={last}
          disabled={!isOn}
          onInput={({ currentTarget }) => show({ ...settings, bound: currentTarget.valueAsNumber })}
          onChange={({ currentTarget }) => keep({ ...settings, bound: currentTarget.valueAsNumber }, "bound")}
        />
        <input
          id="bound-number"
          type="number"
          aria-label="Jobs that may wait, as a number"
          aria-invalid={isWrong}
          aria-describedby="bound-fault"
          {...BOUND}
          inputMode="numeric"
          value={typed ?? last}
          disabled={!isOn}
          onInput={({ currentTarget }) => type(currentTarget.value)}
          onChange={({ currentTarget }) => {
            const bound = typedBound(currentTarget.value);
            if (bound !== null) keep({ ...settings, bound }, "bound");
          }}
          onBlur={() => setTyped(null)}
        />
      </div>
      <p id="bound-fault" class="x-fault" role="status">
        {isWrong ? `A whole number from ${BOUND.min} to ${BOUND.max}. Shown is ${last}.` : ""}
      </p>
    </fieldset>
  );
}
