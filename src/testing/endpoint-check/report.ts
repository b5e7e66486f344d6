import type { EndpointCheckOption } from './verdict.js';

/**
 * The checks of {@link checkCallbackEndpoint}, in their order. Those that end in `-effect` are decided at the end
 * of the run, after deferred work.
 */
export type EndpointCheckId =
  | 'probe-answers'
  | 'reachable'
  | 'valid-accepted'
  | 'status-200'
  | 'acknowledged-in-time'
  | 'wrong-secret'
  | 'tampered-body'
  | 'missing-signature'
  | 'altered-signature'
  | 'malformed-body'
  | 'stale-timestamp'
  | 'future-timestamp'
  | 'delayed-callback'
  | 'raw-bytes'
  | 'extra-fields'
  | 'missing-fields'
  | 'unknown-status'
  | 'duplicate'
  | 'simultaneous'
  | 'older-change'
  | 'overtaking'
  | 'large-body'
  | 'available'
  | 'valid-effect'
  | 'unknown-status-effect'
  | 'duplicate-effect'
  | 'simultaneous-effect'
  | 'resigned-retry-effect'
  | 'second-change-effect'
  | 'older-change-effect'
  | 'late-paid-effect';

/** The result of one check. Plain and frozen: it can be written as JSON. */
export interface EndpointCheck {
  /** The name of the check, the same in every run. */
  readonly id: EndpointCheckId;
  /** What the endpoint should do, in one line. */
  readonly title: string;
  /** `skipped`: it could not be tried, so nothing is known; `detail` says why. */
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** What was seen. */
  readonly detail: string;
  /** Why it matters. */
  readonly why: string;
  /** What to do when it failed. */
  readonly remedy: string;
  /** A line to paste for that. */
  readonly paste?: string;
  /** The option of {@link checkCallbackEndpoint} that the check needs, or that may make it pass. */
  readonly option?: EndpointCheckOption;
  /** The HTTP status of the answer that decided; absent when none did. */
  readonly status?: number;
  /** How long that answer took, in milliseconds. */
  readonly latencyMs?: number;
  /**
   * Of a failed check: the body of that answer, at most 200 characters on one line, without markup. The signing
   * secret is redacted, and an answer that repeats 40 characters of what was sent is withheld.
   */
  readonly answer?: string;
  /** The reference numbers of its made-up payments, to find them in the endpoint's log. */
  readonly referenceNumbers: readonly string[];
}

/** The result of {@link checkCallbackEndpoint}. Plain and frozen: it can be written as JSON. Contains no secret. */
export interface EndpointReport {
  /** The endpoint, without its query, which may hold a token. */
  readonly url: string;
  /** Whether no check failed, and a callback was acknowledged. See `counts.skipped` for what was not tried. */
  readonly passed: boolean;
  /**
   * The failed check to look at first: the checks that were skipped because of it, and perhaps other failures,
   * have the same cause. Absent when none failed.
   */
  readonly cause?: EndpointCheckId;
  /** Every check, in the order of `EndpointCheckId`. */
  readonly checks: readonly EndpointCheck[];
  /** How many checks had which outcome. */
  readonly counts: {
    /** What the endpoint does right. */
    readonly passed: number;
    /** What it does wrong. */
    readonly failed: number;
    /** What is not known. */
    readonly skipped: number;
  };
  /** How long the endpoint took to accept a callback, in milliseconds; absent when it accepted none. */
  readonly acknowledgeMs?: {
    /** Half of the callbacks were accepted within this time. */
    readonly median: number;
    /** The time of the slowest. */
    readonly max: number;
  };
  /** When the run began: ISO 8601, UTC. */
  readonly startedAt: string;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
}

/** Of the callbacks that were accepted; undefined if there are none. */
export function summarize(latenciesMs: readonly number[]): EndpointReport['acknowledgeMs'] {
  if (latenciesMs.length === 0) return undefined;
  const sorted = [...latenciesMs].sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  const [low = 0, high = 0] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return Object.freeze({ median: roundMs((low + high) / 2), max: roundMs(sorted.at(-1) ?? 0) });
}

/** To a tenth. */
export const roundMs = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;
