/** What the process that makes the load is told, and what it tells. */

export interface LoadJob {
  /** Where the connections lead, in turn. */
  readonly ports: readonly number[];
  /** Whole HTTP/1.1 requests, sent in turn. */
  readonly requests: readonly string[];
  /** How often each is sent before the next one is; 1 unless given. */
  readonly repeat?: number;
  readonly connections: number;
  /**
   * closed: each connection asks again once it is answered, for so long. open: so many a second whatever comes back, a
   * request's time running from the moment at which it was due. once: every request once.
   */
  readonly pace:
    | { readonly kind: "closed"; readonly seconds: number }
    | { readonly kind: "open"; readonly seconds: number; readonly perSecond: number }
    | { readonly kind: "once" };
  /** Answers that contain this text are counted as `matched`. */
  readonly match?: string | undefined;
}

export interface LoadResult {
  readonly sent: number;
  readonly answered: number;
  /** Answers a second while requests were being sent. */
  readonly perSecond: number;
  /** From the first request until the last answer. */
  readonly seconds: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly matched: number;
  /** Milliseconds, nearest rank. */
  readonly p50: number;
  readonly p99: number;
  /** The part of one core that the load itself took, 0 to 1; an open one spins, so as not to miss a moment. */
  readonly busy: number;
  /** Bytes of a whole answer, on average. */
  readonly answerBytes: number;
  /** The first answer, for whoever wonders what was measured. */
  readonly sample: string;
  /** Milliseconds that requests of an open load left later than they were due, 99th of 100: no free connection, or a slow load. */
  readonly lateP99: number;
}
