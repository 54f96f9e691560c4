import { useEffect, useMemo, useState } from "preact/hooks";
import { useNow } from "../shared/time.tsx";
import { Charts } from "./charts.tsx";
import { type Reading, useReading } from "./context.ts";
import { EngineSwitch } from "./engine-switch.tsx";
import { Figures } from "./figures.tsx";
import { type Look, lookOf, recent, withLook } from "./history.ts";
import { Refusals } from "./refusals.tsx";
import type { AdminQueue } from "./shapes.ts";
import { type Contact, type Situation, situationOf } from "./situation.ts";

/** How the engine stands now and stood in the last minutes: asked about every second, and kept in the page. */

const EVERY_MS = 1000;

export function Live() {
  const reading = useReading<AdminQueue>("/admin/queue", EVERY_MS);
  const { value: queue, atMs } = reading;
  const [looks, setLooks] = useState<readonly Look[]>([]);
  useEffect(() => {
    if (queue !== null) setLooks((before) => withLook(before, lookOf(queue, atMs)));
  }, [queue, atMs]);
  const lately = useMemo(() => recent(looks), [looks]);
  const now = useNow(EVERY_MS);
  const situation = situationOf(contactOf(reading, now), queue, lately);
  return (
    <>
      <Banner situation={situation} queue={queue} ageMs={queue === null ? null : Math.max(0, now - atMs)} />
      {queue === null && reading.fault === null && <div class="figures-to-come" />}
      {queue !== null && (
        <>
          <Figures queue={queue} recent={lately} />
          <Charts looks={looks} />
          <Refusals queue={queue} recent={lately} />
        </>
      )}
    </>
  );
}

function contactOf({ value, fault, failingSinceMs }: Reading<AdminQueue>, now: number): Contact {
  if (fault === null) return { kind: value === null ? "starting" : "live" };
  const forSeconds = Math.max(0, now - (failingSinceMs ?? now)) / 1000;
  // One question that got lost is no outage.
  if (value !== null && forSeconds < 2) return { kind: "live" };
  if (fault.kind === "unreachable") return { kind: "offline", forSeconds };
  return { kind: "silent", why: fault.detail, forSeconds };
}

interface BannerProps {
  readonly situation: Situation;
  readonly queue: AdminQueue | null;
  /** How old the figures are, in milliseconds; null: there are none. */
  readonly ageMs: number | null;
}

function Banner({ situation, queue, ageMs }: BannerProps) {
  const { tone, word, headline, advice } = situation;
  return (
    <section class="card banner" data-tone={tone} aria-label="State">
      <div role="status" class="banner-words">
        <span class="badge" data-tone={tone}>
          {word}
        </span>
        <p class="banner-headline">{headline}</p>
      </div>
      <p class="banner-age muted num">{ageMs === null ? "No figures yet" : heard(ageMs)}</p>
      <p class="banner-advice num">{advice}</p>
      {queue !== null && (
        <div class="banner-switch">
          <EngineSwitch queue={queue} />
        </div>
      )}
    </section>
  );
}

/** Figures that come every second are live; older ones say how old. */
function heard(ageMs: number): string {
  return ageMs < 3_000 ? "Live, every second" : `Figures are ${Math.round(ageMs / 1000)} s old`;
}
