import { verifyCallback } from 'merchant-payments/callback';
import { plainText } from '../protocol/plain-text.js';
import { describeAnswer } from './delivery-text.js';
import { readText, toJsonBody } from './outgoing.js';
import type { Paint } from './output.js';
import type { SentCallback } from './sending.js';

/** What the endpoint should have done with a callback, and whether it did. */
export interface Judgement {
  /** `nothing` when no callback was sent, `any` when the interface leaves it open. */
  readonly expected: 'accepted' | 'refused' | 'any' | 'nothing';
  /** Why it should have refused: the code of the error that `verifyCallback` throws. */
  readonly reason?: string;
  readonly isAsExpected: boolean;
}

/** A sent callback and its judgement. */
export interface JudgedCallback {
  readonly sent: SentCallback;
  readonly judgement: Judgement;
}

interface JudgementOptions {
  readonly signingSecret: string;
  /** Whether copies were sent at the same time: one may then be answered 503, if another was accepted. */
  readonly areCopiesAtOnce: boolean;
}

/**
 * Judges each answer by the result of `verifyCallback` for the bytes that were sent: a valid callback must
 * be answered with 2xx, any other with 4xx.
 */
export function judgeAnswers(
  all: readonly SentCallback[],
  { signingSecret, areCopiesAtOnce }: JudgementOptions,
): readonly JudgedCallback[] {
  return all.map((sent) => {
    const judgement = judgeAnswer(sent, signingSecret);
    const mayBeRetried =
      areCopiesAtOnce &&
      judgement.expected === 'accepted' &&
      statusOf(sent) === BUSY &&
      all.some((other) => isCopy(other, sent) && isAccepted(other));
    return { sent, judgement: mayBeRetried ? { ...judgement, isAsExpected: true } : judgement };
  });
}

/** The answer to a copy of a callback that is still being processed. */
const BUSY = 503;

function judgeAnswer(sent: SentCallback, signingSecret: string): Judgement {
  if (sent.outcome === 'dropped') return { expected: 'nothing', isAsExpected: true };
  const reason = findReasonToRefuse(sent, signingSecret);
  if (reason !== undefined) return { expected: 'refused', reason, isAsExpected: isRefused(sent) };
  // Verification does not need it, but a framework may.
  if (sent.headers['content-type'] === undefined) {
    return { expected: 'any', isAsExpected: isAccepted(sent) || isRefused(sent) };
  }
  return { expected: 'accepted', isAsExpected: isAccepted(sent) };
}

const statusOf = ({ response }: SentCallback): number => response?.status ?? 0;

const isAccepted = (sent: SentCallback): boolean => sent.outcome === 'acknowledged';

// A rate limit is not a refusal of this callback.
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

const SHOWN_CHARACTERS = 400;

/** Describes a sent callback for people: its headers, its body, and the answer. */
export function describeSent({ sent, judgement }: JudgedCallback, paint: Paint): string[] {
  const { url, headers, rawBody, attempt, copy, response } = sent;
  const which = `${attempt > 1 ? `, attempt ${attempt}` : ''}${copy > 0 ? `, copy ${copy}` : ''}`;
  const answer = response?.body ?? '';
  return [
    `${sent.outcome === 'dropped' ? 'not sent' : 'sent'} to ${plainText(url)}${which}`,
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${plainText(value)}`),
    `  ${shorten(readText(rawBody) ?? `${rawBody.byteLength} bytes that are not text`)}`,
    `answer: ${describeAnswer(sent, paint)}`,
    ...(answer === '' ? [] : [`  ${shorten(answer)}`]),
    ...(judgement.isAsExpected ? [] : [paint('red', `  expected: ${describeExpected(judgement)}`)]),
    '',
  ];
}

function shorten(text: string): string {
  const characters = [...text];
  const shown = plainText(characters.slice(0, SHOWN_CHARACTERS).join(''));
  return characters.length > SHOWN_CHARACTERS
    ? `${shown}… (${characters.length} characters)`
    : shown;
}

/** Returns a sent callback for JSON. */
export function toJsonSent({ sent, judgement }: JudgedCallback): object {
  const { rawBody, sentAt, latencyMs, ...rest } = sent;
  return {
    ...rest,
    sentAt: sentAt.toISOString(),
    latencyMs: Math.round(latencyMs * 10) / 10,
    ...toJsonBody(rawBody),
    ...judgement,
  };
}

/** Describes in one line what went wrong; `undefined` if nothing did. */
export function describeFailure(all: readonly JudgedCallback[]): string | undefined {
  const wrong = all.filter(({ judgement }) => !judgement.isAsExpected);
  const [first] = wrong;
  if (first === undefined) return undefined;
  const { outcome, response, errorCode } = first.sent;
  const seen =
    response === undefined
      ? `did not answer (${errorCode ?? outcome})`
      : `answered ${response.status}`;
  const others =
    wrong.length > 1 ? `, and ${wrong.length - 1} more answers were not as expected` : '';
  return `the endpoint ${seen}, but ${describeExpected(first.judgement)}${others}; merchant-payments check finds the cause`;
}

function describeExpected({ expected, reason }: Judgement): string {
  if (expected === 'refused') {
    return `a callback that fails verification with ${reason} must be refused with 4xx, preferably 401`;
  }
  if (expected === 'any') return 'a callback without content-type must be answered with 2xx or 4xx';
  return 'a valid callback must be accepted with 2xx';
}
