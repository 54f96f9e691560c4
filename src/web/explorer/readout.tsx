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
  const [one, two] = [boundName(settings.bound), boundName(otherBound(settings))];
  return (
    <section class="card">
      <h2 id="readout">What comes of it</h2>
      <table class="x-readout" aria-labelledby="readout">
        <thead>
          <tr>
            <td />
            <th scope="col" class="num">
              {one}
            </th>
            <th scope="col" class="num">
              {two}
            </th>
          </tr>
        </thead>
        <tbody>
          {ROWS.map(([name, read]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="num" data-column={one}>
                {read(chosen.figures)}
              </td>
              <td class="num muted" data-column={two}>
                {read(other.figures)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
