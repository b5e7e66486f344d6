import type { DeliveryAttempt, MockEvent, RecordedRequest } from 'merchant-payments/mock-server';
import { answerLine, isForged } from '../mock-server/callbacks/answer-hints.js';
import type {
  ControlAttempt,
  ControlDelivery,
  ControlRequest,
} from '../mock-server/control/control-types.js';
import { plainText } from '../protocol/plain-text.js';
import { formatTime } from './layout.js';
import { formatDuration } from './option-values.js';
import type { Paint } from './terminal.js';

// One line for a request, one for a callback, the same in each command. `→` is what the merchant's code sent, `←`
// what the service sent to it.

const SET_CALLBACK_URL = 'pass --callback-url, or set it in the dashboard';

/** `→ POST /api/payments 201 order-1001 2500 EUR` */
export function requestLine(request: ControlRequest | RecordedRequest, paint: Paint): string {
  const { method, path, status, answer, fault, body } = request;
  const { reference, price } = creationIn(body);
  const isGood = status !== undefined && status < 400;
  const line = [
    `→ ${plainText(method)} ${plainText(path)}`,
    paint(
      isGood ? 'green' : 'red',
      String(status ?? (answer?.withheld ? `${answer.status} lost` : 'no answer')),
    ),
    ...[reference, price].flatMap((text) => (text === undefined ? [] : [plainText(text)])),
  ].join(' ');
  const faulty =
    fault === undefined ? line : `${line}, ${paint('yellow', `fault ${plainText(fault)}`)}`;
  const reason = answer && answer.status >= 400 ? answerLine(answer.body) : undefined;
  return reason === undefined ? faulty : `${faulty}: ${plainText(reason)}`;
}

/** Returns what a creation asks for, as far as its body can be read. */
export function creationIn(body: string): { readonly reference?: string; readonly price?: string } {
  try {
    const { merchantPaymentReference: reference, amount, currency } = JSON.parse(body) ?? {};
    if (typeof reference !== 'string') return {};
    const isPriced = typeof amount === 'number' && typeof currency === 'string';
    return { reference, ...(isPriced && { price: `${amount} ${currency}` }) };
  } catch {
    return {};
  }
}

/** `503`, `ECONNREFUSED`, `no answer` or `dropped`. */
export const answerOf = ({
  response,
  outcome,
  errorCode,
}: Pick<DeliveryAttempt, 'outcome' | 'errorCode'> & {
  readonly response?: { readonly status: number } | undefined;
}): string =>
  String(response?.status ?? errorCode ?? (outcome === 'dropped' ? outcome : 'no answer'));

const isForgery = (attempt: ControlAttempt | DeliveryAttempt): boolean =>
  'forged' in attempt ? attempt.forged : isForged(attempt);

/** Green when the endpoint did what it must, yellow when nothing was sent, else red. */
export function attemptStyle(attempt: ControlAttempt | DeliveryAttempt | undefined) {
  if (attempt === undefined || attempt.outcome === 'dropped') return 'yellow';
  const { outcome, response: { status } = { status: 0 } } = attempt;
  const isRefused = status >= 400 && status < 500;
  return (isForgery(attempt) ? isRefused : outcome === 'acknowledged') ? 'green' : 'red';
}

/** `← 503 order-1007 paid, try 1, retry in 1s` */
export function callbackLine(attempt: ControlAttempt | DeliveryAttempt, paint: Paint): string {
  const { merchantPaymentReference, status, outcome, response, fault, copy } = attempt;
  const parts = [
    `← ${paint(attemptStyle(attempt), plainText(answerOf(attempt)))} ${plainText(merchantPaymentReference)} ${plainText(status)}`,
    `try ${attempt.attempt}${copy > 0 ? ` copy ${copy}` : ''}`,
  ];
  if (fault !== undefined) parts.push(paint('yellow', `fault ${plainText(fault)}`));
  if (isForgery(attempt) && outcome === 'acknowledged') {
    parts.push(paint('red', 'a forgery that your endpoint accepted'));
  }
  const next = retryOf(attempt);
  if (next !== undefined) parts.push(next);
  const said = outcome === 'refused' ? answerLine(response?.body ?? '') : undefined;
  return parts.join(', ') + (said === undefined ? '' : `: ${plainText(said)}`);
}

function retryOf(attempt: ControlAttempt | DeliveryAttempt): string | undefined {
  const { outcome, sentAt, latencyMs, nextRetryAt, copy } = attempt;
  if (nextRetryAt === undefined) {
    return outcome === 'acknowledged' || copy > 0 ? undefined : 'no retry left';
  }
  const leftMs = new Date(nextRetryAt).getTime() - new Date(sentAt).getTime() - latencyMs;
  const precisionMs = leftMs < 950 ? 100 : 1_000;
  return `retry in ${formatDuration(Math.max(0, Math.round(leftMs / precisionMs) * precisionMs))}`;
}

/** The line for a callback that has no attempt; `undefined` in the states that attempts show. */
function deliveryLine(
  { state, status }: Pick<ControlDelivery, 'state' | 'status'>,
  merchantPaymentReference: string,
  paint: Paint,
): string | undefined {
  const what = plainText(`${merchantPaymentReference} ${status}`);
  if (state === 'not-configured')
    return `← ${paint('yellow', 'not sent')} ${what}: no callback URL is set; ${SET_CALLBACK_URL}`;
  if (state === 'held')
    return `← ${paint('yellow', 'held')} ${what} until the payment's next change`;
  return undefined;
}

/** The lines of a callback: its attempts, or why there are none yet. */
export function deliveryLines(delivery: ControlDelivery, paint: Paint): string[] {
  const { merchantPaymentReference } = delivery;
  const lines = delivery.attempts.flatMap((attempt) => [
    callbackLine(attempt, paint),
    ...(attempt.hint === undefined ? [] : [`  ${plainText(attempt.hint)}`]),
  ]);
  const other = deliveryLine(delivery, merchantPaymentReference, paint);
  if (other !== undefined) lines.push(other);
  return lines.length > 0
    ? lines
    : [plainText(`← ${merchantPaymentReference} ${delivery.status}: ${delivery.state}`)];
}

/** Describes events in lines, each cause before its effect. */
export class EventLog {
  readonly #paint: Paint;
  readonly #now: () => Date;
  /** The reference numbers of second payments: the line of their creation follows with the answer. */
  readonly #seconds = new Set<string>();

  constructor(paint: Paint, now: () => Date = () => new Date()) {
    this.#paint = paint;
    this.#now = now;
  }

  /** Returns the line for an event, if it has one, with the time before it. */
  line(event: MockEvent): string | undefined {
    const text = this.describe(event);
    const now = this.#now();
    return text && `${this.#paint('dim', formatTime(now, now))}  ${text}`;
  }

  describe(event: MockEvent): string | undefined {
    switch (event.type) {
      case 'request': {
        const { ended, referenceNumber = '' } = event.request;
        if (!ended) return undefined;
        const line = requestLine(event.request, this.#paint);
        const isSecond = this.#seconds.delete(referenceNumber);
        return isSecond ? `${line}, ${this.#paint('red', 'second payment')}` : line;
      }
      case 'payment': {
        // A callback shows every other change.
        const { history, referenceNumber, secondOf } = event.payment;
        if (history.length === 1 && secondOf !== undefined) this.#seconds.add(referenceNumber);
        return undefined;
      }
      case 'attempt':
        return callbackLine(event.attempt, this.#paint);
      case 'delivery': {
        const { merchantPaymentReference } = event.delivery.payment;
        return deliveryLine(event.delivery, merchantPaymentReference, this.#paint);
      }
      case 'clock':
        return '· the clock moved ahead';
      case 'limit':
        return `· ${this.#paint('yellow', plainText(event.message))}`;
      case 'reset':
        return '· reset, everything removed';
      default:
        return undefined;
    }
  }
}

/** Where callbacks go, to follow "callbacks". */
export const describeCallbackUrl = (callbackUrl: string | null | undefined): string =>
  typeof callbackUrl === 'string' ? `to ${plainText(callbackUrl)}` : `off; ${SET_CALLBACK_URL}`;

/** Returns an event as `mock --json` prints it: bodies as text, dates in ISO 8601, no Infinity. */
export function toJsonEvent(event: MockEvent): unknown {
  const { type } = event;
  switch (type) {
    case 'request': {
      const { json: _body, ...request } = event.request;
      return { type, request };
    }
    case 'attempt': {
      const rawBody = new TextDecoder().decode(event.attempt.rawBody);
      return { type, attempt: { ...event.attempt, rawBody } };
    }
    case 'delivery': {
      const { id, referenceNumber, status, state, payment } = event.delivery;
      const { merchantPaymentReference } = payment;
      return { type, delivery: { id, referenceNumber, merchantPaymentReference, status, state } };
    }
    case 'faults': {
      const timesOf = (times: number | undefined) =>
        times === Number.POSITIVE_INFINITY ? 'unlimited' : times;
      return { type, faults: event.faults.map((one) => ({ ...one, times: timesOf(one.times) })) };
    }
    default:
      return event;
  }
}
