import type { ComponentChildren } from "preact";
import { duration, perSecond, whole } from "../shared/numbers.ts";
import { REFUSALS_SINCE, type Recent, total } from "./history.ts";
import type { AdminQueue } from "./shapes.ts";

/** The figures of now. Each has its place whatever it shows, so that nothing jumps. */

interface FiguresProps {
  readonly queue: AdminQueue;
  /** Null after the first look: there are no rates yet. */
  readonly recent: Recent | null;
}

export function Figures({ queue, recent }: FiguresProps) {
  const { depth, bound, inFlight, limit, pacePerSecond, counters } = queue;
  const back = queue.retryAfterSeconds;
  const isIdle = depth + queue.criticalDepth === 0;
  return (
    <section aria-labelledby="figures">
      <h2 id="figures" class="visually-hidden">
        Now
      </h2>
      <dl class="figures num">
        <Figure name="Queued" value={whole(depth)} more={`of ${whole(bound)}${behind(queue)}`} share={depth / bound} />
        <Figure
          name="In flight"
          value={whole(inFlight)}
          more={limit.value === null ? "no limit" : `limit ${whole(limit.value)}, ${limit.algorithm}`}
          share={limit.value === null ? null : inFlight / limit.value}
        />
        <Figure name="Oldest wait" value={duration(queue.oldestWaitSeconds)} more="the first in line" />
        <Figure
          name="Pace"
          value={pacePerSecond !== null ? perSecond(pacePerSecond) : isIdle ? "–" : "unknown"}
          more={`${pacePerSecond === null && isIdle ? "nothing waits; " : ""}${whole(queue.completedLastMinute)} in the last minute`}
        />
        <Figure
          name="Retry-After"
          value={back === null ? "–" : duration(back)}
          more={back === null ? "there is room" : "is told to who is refused"}
        />
        <Figure
          name="Accepted"
          value={recent === null ? "–" : perSecond(recent.acceptedPerSecond)}
          more={`${whole(counters.accepted)} in all`}
        />
        <Figure
          name="Refused"
          value={recent === null ? "–" : perSecond(total(recent.refusedPerSecond))}
          more={`${whole(total(counters.refused))} since ${REFUSALS_SINCE}`}
        />
        <Figure name="Dead letters" value={whole(counters.dead)} more={<Ends queue={queue} />} />
      </dl>
    </section>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly more: ComponentChildren;
  /** How much of what there is room for, 0 to 1; null: there is no such thing. */
  readonly share?: number | null;
}

function Figure({ name, value, more, share = null }: FigureProps) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd class="figure-value">{value}</dd>
      <dd class="muted">{more}</dd>
      {share !== null && (
        <dd class="meter" aria-hidden="true" data-tone={share >= 1 ? "bad" : share >= 0.8 ? "warn" : "ok"}>
          <i style={{ width: `${Math.min(100, 100 * share)}%` }} />
        </dd>
      )}
    </div>
  );
}

/** What waits elsewhere than in the bounded lane. */
function behind({ criticalDepth, retrying, deferred }: AdminQueue): string {
  const parts = [
    criticalDepth > 0 && `${whole(criticalDepth)} critical`,
    retrying > 0 && `${whole(retrying)} between attempts`,
    deferred > 0 && `${whole(deferred)} deferred`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? "" : `; ${parts.join(", ")}`;
}

/** The other ends of commands. What failed is no dead letter, and as bad: it is shown beside them. */
function Ends({ queue: { counters } }: { readonly queue: AdminQueue }) {
  const { completed, failed, expired, cancelled } = counters;
  const others = [expired > 0 && `${whole(expired)} expired`, cancelled > 0 && `${whole(cancelled)} cancelled`];
  const rest = [`${whole(completed)} completed`, ...others.filter((part) => part !== false)].join(", ");
  return (
    <>
      <strong>{whole(failed)} failed</strong>, turned down for good; {rest}
    </>
  );
}
