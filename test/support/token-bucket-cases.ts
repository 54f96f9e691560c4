import cases from "./token-bucket.json" with { type: "json" };

/** Faults that people reported against other limiters, as steps with the right answers. Any limiter must hold them. */

export interface CaseBucket {
  readonly burst: number;
  readonly ratePerSecond: { readonly tokens: number; readonly perSeconds: number };
}

export interface CaseStep {
  /** Seconds on the object's own clock. */
  readonly at: number;
  readonly op: string;
  readonly cost?: number;
  readonly bucket?: CaseBucket;
  readonly expect?: {
    readonly allowed?: boolean;
    readonly remaining?: number;
    readonly retryAfterSeconds?: number | null;
    readonly code?: string;
  };
}

export interface BucketCase {
  readonly id: string;
  readonly rule: string;
  readonly bucket: CaseBucket;
  readonly steps: readonly CaseStep[];
}

export const TOKEN_BUCKET_CASES: readonly BucketCase[] = cases.cases;
