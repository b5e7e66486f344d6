import type {
  Delivery,
  MockEvent,
  MockPayment,
  RecordedRequest,
} from 'merchant-payments/mock-server';
import type { Paint } from '../colors.js';
import { describeAnswer } from '../delivery-text.js';
import { plainText } from '../plain-text.js';

type AttemptEvent = Extract<MockEvent, { type: 'attempt' }>;

/** Makes the lines of the mock's log. It remembers when requests arrived, to tell how long they took. */
export class MockLog {
  readonly #paint: Paint;
  readonly #now: () => Date;
  readonly #arrivals = new Map<string, number>();

  constructor(paint: Paint, now: () => Date = () => new Date()) {
    this.#paint = paint;
    this.#now = now;
  }

  /** The line for an event; `undefined` when there is nothing to say. */
  describe(event: MockEvent): string | undefined {
    const text = this.#describe(event);
    if (text === undefined) return undefined;
    const now = this.#now();
    const time = [now.getHours(), now.getMinutes(), now.getSeconds()]
      .map((part) => String(part).padStart(2, '0'))
      .join(':');
    return `${this.#paint('dim', time)}  ${text}`;
  }

  #describe(event: MockEvent): string | undefined {
    switch (event.type) {
      case 'request':
        return this.#request(event.request);
      case 'payment':
        return this.#payment(event.payment);
      case 'attempt':
        return this.#attempt(event);
      case 'delivery':
        return this.#delivery(event.delivery);
      case 'clock':
        return 'clock     was moved ahead';
      case 'reset':
        return 'reset     everything was forgotten';
      default:
        return undefined;
    }
  }

  #request(request: RecordedRequest): string | undefined {
    const { requestId, method, path, status, fault, ended } = request;
    const now = this.#now().getTime();
    if (!ended) {
      this.#arrivals.set(requestId, now);
      return undefined;
    }
    const arrival = this.#arrivals.get(requestId) ?? now;
    this.#arrivals.delete(requestId);
    const parts = [
      `request   ${plainText(method)} ${plainText(path)}`,
      status === undefined ? this.#paint('red', 'connection broken') : this.#status(status),
    ];
    if (fault !== undefined) parts.push(this.#paint('yellow', `fault ${fault}`));
    const reference = merchantReference(request.json);
    if (reference !== undefined) parts.push(plainText(reference));
    return [...parts, `${now - arrival} ms`].join(', ');
  }

  #status(status: number): string {
    return this.#paint(status < 400 ? 'green' : 'red', String(status));
  }

  #payment(payment: MockPayment): string {
    const { referenceNumber, merchantPaymentReference, history, amount, currency } = payment;
    const before = history.at(-2);
    const status = this.#paint('cyan', plainText(payment.status));
    const change =
      before === undefined
        ? `${status}, ${amount} ${plainText(currency)}`
        : `${plainText(before.status)} → ${status}`;
    return `payment   ${plainText(merchantPaymentReference)} ${change}, ${plainText(referenceNumber)}`;
  }

  #attempt({ attempt }: AttemptEvent): string {
    const copy = attempt.copy > 0 ? ` (copy ${attempt.copy})` : '';
    const what = `${plainText(attempt.merchantPaymentReference)} ${plainText(attempt.status)}`;
    const next = attempt.nextRetryAt;
    return [
      `callback  ${what}, attempt ${attempt.attempt}${copy}`,
      describeAnswer(attempt, this.#paint),
      ...(next === undefined ? [] : [`next attempt at ${next.toISOString()}`]),
    ].join(', ');
  }

  // The other states follow from the attempts.
  #delivery({ state, payment, status }: Delivery): string | undefined {
    const what = `callback  ${plainText(payment.merchantPaymentReference)} ${plainText(status)}`;
    switch (state) {
      case 'not-configured':
        return `${what}, ${this.#paint('yellow', 'not sent: no callback URL is set')}`;
      case 'held':
        return `${what}, ${this.#paint('yellow', "kept back until the payment's next change")}`;
      case 'given-up':
        return `${what}, ${this.#paint('red', 'given up')}`;
      default:
        return undefined;
    }
  }
}

function merchantReference(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  if (!('merchantPaymentReference' in json)) return undefined;
  const { merchantPaymentReference } = json;
  return typeof merchantPaymentReference === 'string' ? merchantPaymentReference : undefined;
}
