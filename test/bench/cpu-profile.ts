/** A profile as V8 tells it, and which functions the time went to. Pure. */

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface SelfTime {
  readonly name: string;
  /** File and line, counted from 1. */
  readonly where: string;
  readonly ms: number;
  /** Of all the time that was sampled, 0 to 1. */
  readonly share: number;
}

/** Time that each function took itself, without those that it called; the most first. */
export function selfTimes({ nodes, samples, timeDeltas }: CpuProfile): SelfTime[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const times = new Map<string, { name: string; where: string; ms: number }>();
  samples.forEach((id, n) => {
    const frame = byId.get(id)?.callFrame;
    if (frame === undefined) return;
    const name = frame.functionName || "(anonymous)";
    const where = frame.url === "" ? "" : `${frame.url.split("/").at(-1)}:${frame.lineNumber + 1}`;
    const known = times.get(`${name} ${where}`) ?? { name, where, ms: 0 };
    // A sample stands for the time since the one before it.
    known.ms += Math.max(0, timeDeltas[n] ?? 0) / 1000;
    times.set(`${name} ${where}`, known);
  });
  const all = [...times.values()];
  const total = all.reduce((sum, { ms }) => sum + ms, 0);
  return all.map((time) => ({ ...time, share: time.ms / total })).sort((a, b) => b.ms - a.ms);
}
