import type { ControlAttempt, ControlDelivery } from '../mock-server/control/control-types.js';
import { plainText } from '../protocol/plain-text.js';
import type { Paint, Style } from './output.js';

type Outcome = ControlAttempt['outcome'];

/** Green when the endpoint accepted the callback, yellow when it was never sent, else red. */
export function outcomeStyle(outcome: Outcome): Style {
  if (outcome === 'acknowledged') return 'green';
  return outcome === 'dropped' ? 'yellow' : 'red';
}

/** What {@link describeAnswer} reads: an attempt of the mock, or of its control interface. */
export interface AttemptAnswer {
  readonly outcome: Outcome;
  readonly response?: { readonly status: number } | undefined;
  readonly errorCode?: string | undefined;
  readonly latencyMs: number;
  readonly fault?: string | undefined;
}

/** Describes how an attempt ended: `refused, HTTP 500, 12 ms, fault wrong-secret`. */
export function describeAnswer(attempt: AttemptAnswer, paint: Paint): string {
  const { outcome, response, errorCode, latencyMs, fault } = attempt;
  const parts = [paint(outcomeStyle(outcome), outcome)];
  if (response !== undefined) parts.push(`HTTP ${response.status}`);
  if (errorCode !== undefined) parts.push(plainText(errorCode));
  if (outcome !== 'dropped') parts.push(`${latencyMs.toFixed(0)} ms`);
  if (fault !== undefined) parts.push(paint('yellow', `fault ${plainText(fault)}`));
  return parts.join(', ');
}

/** Describes the callback of a status change: its attempts, their outcomes, and what comes next. */
export function describeDelivery(delivery: ControlDelivery, paint: Paint): string[] {
  const attempts = delivery.attempts.flatMap((attempt) => {
    const copy = attempt.copy > 0 ? ` (copy ${attempt.copy})` : '';
    const body = attempt.outcome === 'refused' ? (attempt.response?.body ?? '') : '';
    return [
      `attempt ${attempt.attempt}${copy} to ${plainText(attempt.url)}: ${describeAnswer(attempt, paint)}`,
      ...(body === '' ? [] : [`  answer: ${plainText(body.slice(0, SHOWN_ANSWER))}`]),
    ];
  });
  return [`delivery ${plainText(delivery.id)}`, ...attempts, describeState(delivery)];
}

const SHOWN_ANSWER = 300;

function describeState({ state, attempts }: ControlDelivery): string {
  const nextRetryAt = attempts.findLast(
    (attempt) => attempt.nextRetryAt !== undefined,
  )?.nextRetryAt;
  switch (state) {
    case 'not-configured':
      return 'no callback was sent, because the mock has no callback URL: start the mock with --callback-url, or set it in the dashboard';
    case 'held':
      return "a reorder fault holds the callback until the payment's next change has been sent";
    case 'sending':
      return 'the callback is being sent';
    case 'retrying':
      return nextRetryAt === undefined
        ? 'the callback will be retried'
        : `the callback will be retried at ${plainText(nextRetryAt)}`;
    case 'acknowledged':
      return 'the endpoint accepted the callback';
    case 'given-up':
      return 'the callback was not accepted, and will not be retried';
    case 'cancelled':
      return 'the callback was cancelled, because the mock was reset or closed';
  }
}
