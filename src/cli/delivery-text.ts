import type { ControlAttempt, ControlDelivery } from 'merchant-payments/mock-server';
import type { Paint, Style } from './colors.js';
import { createPaint } from './colors.js';
import type { Terminal } from './command.js';
import { printLine } from './output.js';
import { plainText } from './plain-text.js';

type Outcome = ControlAttempt['outcome'];

/** Green when the endpoint took the callback, yellow when it was never sent, else red. */
export function outcomeStyle(outcome: Outcome): Style {
  if (outcome === 'acknowledged') return 'green';
  return outcome === 'dropped' ? 'yellow' : 'red';
}

/** What {@link describeAnswer} reads of an attempt, in the process or over HTTP. */
export interface AttemptAnswer {
  readonly outcome: Outcome;
  readonly response?: { readonly status: number } | undefined;
  readonly errorCode?: string | undefined;
  readonly latencyMs: number;
  readonly fault?: string | undefined;
}

/** How an attempt ended: `refused, HTTP 500, 12 ms, fault wrong-secret`. */
export function describeAnswer(attempt: AttemptAnswer, paint: Paint): string {
  const { outcome, response, errorCode, latencyMs, fault } = attempt;
  const parts = [paint(outcomeStyle(outcome), outcome)];
  if (response !== undefined) parts.push(`HTTP ${response.status}`);
  if (errorCode !== undefined) parts.push(plainText(errorCode));
  if (outcome !== 'dropped') parts.push(`${latencyMs.toFixed(0)} ms`);
  if (fault !== undefined) parts.push(paint('yellow', `fault ${plainText(fault)}`));
  return parts.join(', ');
}

/** Says what became of the callback of a status change: its attempts, and what comes next. */
export function printDelivery(delivery: ControlDelivery, terminal: Terminal): void {
  const paint = createPaint(terminal.stdout);
  printLine(terminal, `delivery ${plainText(delivery.id)}`);
  for (const attempt of delivery.attempts) {
    const copy = attempt.copy > 0 ? ` (copy ${attempt.copy})` : '';
    printLine(
      terminal,
      `attempt ${attempt.attempt}${copy} to ${plainText(attempt.url)}: ${describeAnswer(attempt, paint)}`,
    );
    const body = attempt.response?.body;
    if (attempt.outcome === 'refused' && body !== undefined && body !== '') {
      printLine(terminal, `  it answered: ${plainText(body.slice(0, SHOWN_ANSWER))}`);
    }
  }
  printLine(terminal, describeState(delivery));
}

const SHOWN_ANSWER = 300;

function describeState({ state, attempts }: ControlDelivery): string {
  const nextRetryAt = attempts.findLast(
    (attempt) => attempt.nextRetryAt !== undefined,
  )?.nextRetryAt;
  switch (state) {
    case 'not-configured':
      return 'no callback was sent, since the mock has no callback URL: give it as --callback-url to merchant-payments mock, or set it in the dashboard';
    case 'held':
      return "the callback is kept back by a reorder fault until the payment's next change was sent";
    case 'sending':
      return 'the callback is being sent';
    case 'retrying':
      return nextRetryAt === undefined
        ? 'the callback will be sent again'
        : `the callback will be sent again at ${plainText(nextRetryAt)}`;
    case 'acknowledged':
      return 'the endpoint took the callback';
    case 'given-up':
      return 'the callback was not taken, and will not be sent again';
    case 'cancelled':
      return 'the callback was called off, since the mock was reset or closed';
  }
}
