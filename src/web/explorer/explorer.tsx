import { type Address, useAddress } from "./address.ts";
import { Charts } from "./charts.tsx";
import { Controls } from "./controls.tsx";
import { Modes } from "./modes.tsx";
import type { Outcome } from "./outcome.ts";
import { Readout } from "./readout.tsx";
import { runOf } from "./settings.ts";
import { Share } from "./share.tsx";
import { useOutcome } from "./simulation.ts";
import { description, headline } from "./words.ts";

/** What `/explorer` shows: what a bound does to a burst, by the simulator, as settings move. */
export function Explorer() {
  const address = useAddress();
  const { timed, stale, failed, retry } = useOutcome(address.settings);
  return (
    <>
      <div class="x-intro">
        <h1>What a bound does to a burst</h1>
        <p class="muted">
          Jobs arrive for half a minute, mostly faster than the backend can work. Move the settings, and see who waits,
          how long, and who is told to come back. What runs here is the product’s own code, under a clock of its own.
        </p>
      </div>
      {address.mended.length > 0 && (
        <div class="notice" data-tone="warn" role="status">
          <p>The address was not quite a setting:</p>
          <ul>
            {address.mended.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </div>
      )}
      <div class="x-body">
        <Controls address={address} />
        <div class="x-result" aria-busy={stale && failed === null} data-shown={timed && runOf(timed.outcome.settings)}>
          {failed !== null && <Failed why={failed} retry={retry} />}
          {timed === null ? (
            failed === null && <p class="card x-waiting">The first simulation is running …</p>
          ) : (
            <Result outcome={timed.outcome} address={address} />
          )}
        </div>
      </div>
      {timed !== null && <Modes outcome={timed.outcome} />}
      <Share settings={address.settings} />
      {timed !== null && (
        <p class="muted num">
          Simulated in {Math.round(timed.tookMs)} ms, on this device. The figures are exact: the same setting always
          gives the same. Retry-After is by the formula of RETRY_AFTER=plain; the gateway’s default formula, places,
          tells later times.
        </p>
      )}
    </>
  );
}

function Result({ outcome, address }: { readonly outcome: Outcome; readonly address: Address }) {
  const { settings, keep } = address;
  return (
    <>
      <p class="x-headline">{headline(outcome)}</p>
      <Charts outcome={outcome} view={settings.view} choose={(view) => keep({ ...settings, view }, null)} />
      <div class="x-pair">
        <section class="card x-words" aria-label="Description">
          <h2>What happens, and why</h2>
          <div aria-live="polite">
            {description(outcome, settings.view).map((paragraph) => (
              <p key={paragraph}>{paragraph}</p>
            ))}
          </div>
        </section>
        <Readout outcome={outcome} />
      </div>
    </>
  );
}

function Failed({ why, retry }: { readonly why: string; retry(): void }) {
  return (
    <div class="notice x-failed" data-tone="bad" role="alert">
      <p>
        The simulation failed: {why}. The settings can still be shared; the command below gives the numbers in a
        terminal.
      </p>
      <button type="button" onClick={retry}>
        Try again
      </button>
    </div>
  );
}
