import { verifyCallback } from 'merchant-payments/callback';
import type { SentCallback } from './sent-callback.js';

/** What the endpoint should have done with a callback, and whether it did. */
export interface Judgement {
  /** `nothing` when none was sent, `any` when the interface leaves it open. */
  readonly expected: 'accepted' | 'refused' | 'any' | 'nothing';
  /** Why it should have refused: the code that `verifyCallback` gives. */
  readonly reason?: string;
  readonly isAsExpected: boolean;
}

interface JudgementOptions {
  readonly signingSecret: string;
  /** Whether copies went at the same time: then one may be told to come again, if another was accepted. */
  readonly areCopiesAtOnce: boolean;
}

/**
 * Judges each answer by what `verifyCallback` says to the very bytes that were sent: a callback that
 * it takes must be answered with 2xx, another one with 4xx.
 */
export function judgeAnswers(
  all: readonly SentCallback[],
  { signingSecret, areCopiesAtOnce }: JudgementOptions,
): readonly Judgement[] {
  return all.map((sent) => {
    const judgement = judgeAnswer(sent, signingSecret);
    const mayComeAgain =
      areCopiesAtOnce &&
      judgement.expected === 'accepted' &&
      statusOf(sent) === BUSY &&
      all.some((other) => isCopy(other, sent) && isAccepted(other));
    return mayComeAgain ? { ...judgement, isAsExpected: true } : judgement;
  });
}

/** What a handler answers to a copy of a callback that it is processing. */
const BUSY = 503;

function judgeAnswer(sent: SentCallback, signingSecret: string): Judgement {
  if (sent.outcome === 'dropped') return { expected: 'nothing', isAsExpected: true };
  const reason = findReasonToRefuse(sent, signingSecret);
  if (reason !== undefined) return { expected: 'refused', reason, isAsExpected: isRefused(sent) };
  // Verification does without it, but a framework may not.
  if (sent.headers['content-type'] === undefined) {
    return { expected: 'any', isAsExpected: isAccepted(sent) || isRefused(sent) };
  }
  return { expected: 'accepted', isAsExpected: isAccepted(sent) };
}

const statusOf = ({ response }: SentCallback): number => response?.status ?? 0;

const isAccepted = (sent: SentCallback): boolean => sent.outcome === 'acknowledged';

// A limit on requests is no refusal of this one.
const isRefused = (sent: SentCallback): boolean =>
  statusOf(sent) >= 400 && statusOf(sent) < 500 && statusOf(sent) !== 429;

const isCopy = (one: SentCallback, other: SentCallback): boolean =>
  one.headers['x-signature'] === other.headers['x-signature'];

function findReasonToRefuse(
  { headers, rawBody, sentAt }: SentCallback,
  signingSecret: string,
): string | undefined {
  try {
    verifyCallback({ headers, rawBody }, { signingSecret, now: () => sentAt.getTime() });
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code);
    throw error;
  }
}
