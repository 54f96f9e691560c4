import type { Figures, Outcome } from "./outcome.ts";
import { boundName, emptied, otherBound, seconds, told } from "./words.ts";

/** A run in a few numbers, beside the one that it is held against. */

const ROWS: readonly (readonly [string, (figures: Figures) => string])[] = [
  ["Accepted", ({ accepted }) => `${accepted}`],
  ["Refused at once", ({ refused }) => `${refused}`],
  ["Longest queue", ({ longestQueue }) => `${longestQueue}`],
  ["Oldest wait when sending stops", ({ oldestWait }) => seconds(oldestWait)],
  ["Longest wait of an accepted job", ({ longestWait }) => seconds(longestWait)],
  ["Queue empty at", emptied],
  ["Retry-After told", told],
];

export function Readout({ outcome: { settings, chosen, other } }: { readonly outcome: Outcome }) {
  return (
    <section class="card">
      <h2 id="readout">What comes of it</h2>
      <table class="x-readout" aria-labelledby="readout">
        <thead>
          <tr>
            <td />
            <th scope="col" class="num">
              {boundName(settings.bound)}
            </th>
            <th scope="col" class="num">
              {boundName(otherBound(settings))}
            </th>
          </tr>
        </thead>
        <tbody>
          {ROWS.map(([name, read]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="num">{read(chosen.figures)}</td>
              <td class="num muted">{read(other.figures)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
