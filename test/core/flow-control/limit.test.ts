import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LimitFunction } from "../../../src/core/flow-control/functions.ts";
import {
  LIMIT_DEFAULTS,
  type LimitAlgorithm,
  type LimitConfig,
  limitOf,
  onSample,
  startLimit,
} from "../../../src/core/flow-control/limit.ts";
import type { LimitSample } from "../../../src/core/flow-control/sample.ts";
import recorded from "../../support/flow-control.json" with { type: "json" };

const T0 = 1_700_000_000_000;

/** The vectors write functions of the limit as text. */
const FUNCTIONS: Readonly<Record<string, LimitFunction>> = {
  "3*log10(limit)": { times: 3, of: "log10" },
  "6*log10(limit)": { times: 6, of: "log10" },
  "max(4,isqrt(limit))": { times: 1, of: "sqrt", min: 4 },
};

function configOf(vector: { algorithm: string; params: object }): LimitConfig {
  const algorithm = vector.algorithm as LimitAlgorithm;
  const given = Object.entries(vector.params).map(([name, value]) => [name, FUNCTIONS[value] ?? value]);
  const params = {
    ...LIMIT_DEFAULTS[algorithm],
    probeMultiplier: null,
    probeInterval: null,
    ...Object.fromEntries(given),
  };
  return { algorithm, windowed: false, params } as LimitConfig;
}

function run(config: LimitConfig, samples: readonly LimitSample[], random = 0.5): number[] {
  let limit = startLimit(config, random);
  return samples.map((sample, n) => {
    limit = onSample(limit, config, sample, T0 + n, random);
    return limitOf(limit);
  });
}

const anySample = fc.record({
  rttMs: fc.double({ min: 0, max: 60_000, noNaN: true }),
  inFlight: fc.integer({ min: 1, max: 2_000 }),
  dropped: fc.boolean(),
});
const anySamples = fc.array(anySample, { maxLength: 300 });
const algorithms = Object.keys(LIMIT_DEFAULTS) as LimitAlgorithm[];
const anyConfig: fc.Arbitrary<LimitConfig> = fc
  .record({ algorithm: fc.constantFrom(...algorithms), windowed: fc.boolean() })
  .map(({ algorithm, windowed }) => ({ algorithm, windowed, params: LIMIT_DEFAULTS[algorithm] }) as LimitConfig);

describe("recorded traces of the published implementations", () => {
  test.each(recorded.vectors.map((vector) => [vector.name, vector] as const))("%s", (_name, vector) => {
    const config = configOf(vector);
    expect(limitOf(startLimit(config, 0.5))).toBe(vector.initial);
    expect(run(config, vector.samples)).toEqual(vector.expectedLimits);
  });
});

describe("every limit", () => {
  test("stays within its bounds, whatever it is fed with", () => {
    fc.assert(
      fc.property(anyConfig, anySamples, fc.double({ min: 0, max: 0.999, noNaN: true }), (config, samples, random) => {
        const max = "maxLimit" in config.params ? config.params.maxLimit : config.params.limit;
        for (const limit of run(config, samples, random)) {
          expect(Number.isInteger(limit)).toBe(true);
          expect(limit).toBeGreaterThanOrEqual(1);
          expect(limit).toBeLessThanOrEqual(max);
        }
      }),
    );
  });

  test("is the same for the same samples", () => {
    fc.assert(
      fc.property(anyConfig, anySamples, (config, samples) => {
        expect(run(config, samples)).toEqual(run(config, samples));
      }),
    );
  });
});

describe("stabilizing AIMD", () => {
  const config: LimitConfig = { algorithm: "aimd", windowed: false, params: LIMIT_DEFAULTS.aimd };

  test("never falls for what was in flight above it", () => {
    fc.assert(
      fc.property(anySamples, anySample, (samples, last) => {
        let limit = startLimit(config, 0.5);
        for (const sample of samples) limit = onSample(limit, config, sample, T0, 0.5);
        const before = limitOf(limit);
        const above = { ...last, inFlight: before + 1 + (last.inFlight % 100) };
        expect(limitOf(onSample(limit, config, above, T0, 0.5))).toBeGreaterThanOrEqual(before);
      }),
    );
  });

  test("never grows past what is used", () => {
    const idle = Array.from({ length: 500 }, () => ({ rttMs: 1, inFlight: 99, dropped: false }));
    expect(run(config, idle).at(-1)).toBe(200);
  });
});

describe("probing", () => {
  const steady: LimitSample = { rttMs: 10, inFlight: 20, dropped: false };

  test("Vegas takes a slower engine for normal after about thirty limits' worth of samples", () => {
    const params = { ...LIMIT_DEFAULTS.vegas, maxLimit: 20 };
    const config: LimitConfig = { algorithm: "vegas", windowed: false, params };
    let limit = startLimit(config, 0);
    limit = onSample(limit, config, steady, T0, 0);
    const slow = { ...steady, rttMs: 100 };
    let lowest = 20;
    for (let n = 0; n < 400; n++) {
      limit = onSample(limit, config, slow, T0, 0);
      lowest = Math.min(lowest, limitOf(limit));
    }
    expect(lowest).toBeLessThan(20);
    expect(limitOf(limit)).toBe(20);
  });

  test("the gradient starts over from its queue size, between one and two intervals", () => {
    const params = { ...LIMIT_DEFAULTS.gradient, probeInterval: 10 };
    const config: LimitConfig = { algorithm: "gradient", windowed: false, params };
    for (const [random, samples] of [
      [0, 11],
      [0.99, 20],
    ] as const) {
      const limits = run(
        config,
        Array.from({ length: samples }, () => ({ ...steady, inFlight: 1000 })),
        random,
      );
      expect(limits.at(-1)).toBeLessThan(limits.at(-2) ?? 0);
    }
  });
});

describe("a windowed limit", () => {
  const config: LimitConfig = {
    algorithm: "aimd",
    windowed: true,
    params: { ...LIMIT_DEFAULTS.aimd, requestTimeoutMs: 100 },
  };

  function fed(samples: readonly (LimitSample & { endMs: number })[]): number {
    let limit = startLimit(config, 0.5);
    for (const sample of samples) limit = onSample(limit, config, sample, T0 + sample.endMs, 0.5);
    return limitOf(limit);
  }

  const one = { rttMs: 50, inFlight: 150, dropped: false };
  /** The first sample opens the window of the next second. */
  const open = { ...one, endMs: 0 };
  const many = (count: number, change: Partial<LimitSample> = {}) =>
    Array.from({ length: count }, (_, n) => ({ ...one, ...change, endMs: 1 + n }));
  const close = { ...one, endMs: 1_001 };

  test.each([
    ["moves once for a second of samples", [open, ...many(9), close], 201],
    ["does not move before the second is over", [open, ...many(50)], 200],
    ["passes over a second with fewer than ten", [open, ...many(8), close], 200],
    ["goes by the mean time", [open, ...many(9, { rttMs: 200 }), close], 180],
    ["goes by the largest in flight", [open, ...many(9, { inFlight: 10 }), { ...close, inFlight: 100 }], 201],
    ["one loss is a loss", [open, ...many(8), { ...one, dropped: true, endMs: 9 }, close], 180],
    ["does not count what is too short to be a time", [open, ...many(50, { rttMs: 0.01 }), close], 200],
  ])("%s", (_rule, samples, limit) => {
    expect(fed(samples)).toBe(limit);
  });
});
