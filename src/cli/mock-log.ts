import type { MockEvent, MockServer } from 'merchant-payments/mock-server';
import type { ControlEvent } from '../mock-server/control/control-types.js';
import { plainText } from '../protocol/plain-text.js';
import { describeAnswer } from './delivery-text.js';
import { timeOfDay } from './layout.js';
import type { Paint } from './output.js';

/** Describes where a mock listens, with the lines to paste into a .env. */
export function describeListening(server: MockServer, paint: Paint): readonly string[] {
  return [
    paint('bold', 'Mock of the Merchant Payment Service'),
    `  address    ${server.url}`,
    `  dashboard  ${dashboardUrl(server)}`,
    `  callbacks  ${describeCallbackUrl(server)}`,
    `  seed       ${server.seed}`,
    '',
    paint('dim', '# For your .env. These credentials are not secret: they protect nothing.'),
    ...envLines(server),
    '',
    paint('dim', 'Press Ctrl-C to stop.'),
    '',
  ];
}

/** The first line of `mock --json`. */
export function toListeningEvent(server: MockServer): unknown {
  const { url, apiKey, apiSecret, signingSecret, seed, callbackUrl = null } = server;
  return {
    type: 'listening',
    url,
    dashboardUrl: dashboardUrl(server),
    apiKey,
    apiSecret,
    signingSecret,
    seed,
    callbackUrl,
  };
}

/** Where callbacks go, to follow "callbacks go". */
export function describeCallbackUrl({
  callbackUrl,
}: {
  readonly callbackUrl: string | null | undefined;
}): string {
  return callbackUrl === undefined || callbackUrl === null
    ? 'nowhere: give --callback-url, or set it in the dashboard'
    : `to ${plainText(callbackUrl)}`;
}

export const dashboardUrl = ({ url }: MockServer): string => `${url}/_mock/`;

function envLines({ url, apiKey, apiSecret, signingSecret }: MockServer): string[] {
  return Object.entries({
    MERCHANT_PAYMENTS_BASE_URL: url,
    MERCHANT_PAYMENTS_API_KEY: apiKey,
    MERCHANT_PAYMENTS_API_SECRET: apiSecret,
    MERCHANT_PAYMENTS_SIGNING_SECRET: signingSecret,
  }).map(([name, value]) => {
    const quoted = quoteForEnv(value);
    return quoted === undefined
      ? `# ${name}: its value can't be written in a .env, because it has a control character or every kind of quote`
      : `${name}=${quoted}`;
  });
}

/** Quotes a value for `util.parseEnv` and dotenv; `undefined` if both can't read it back. */
function quoteForEnv(value: string): string | undefined {
  if (/^[\w.:/@%+=,-]+$/.test(value)) return value;
  // Unescaped, it could control the terminal; escaped, it would be read back differently.
  if (plainText(value) !== value) return undefined;
  if (!value.includes("'")) return `'${value}'`;
  // In double quotes a backslash begins an escape.
  if (!/["\\]/.test(value)) return `"${value}"`;
  return value.includes('`') ? undefined : `\`${value}\``;
}

/** Returns an event as `mock --json` prints it: bodies as text, dates in ISO 8601, no Infinity. */
export function toJsonEvent(event: MockEvent): unknown {
  switch (event.type) {
    case 'request': {
      const { json: _body, ...request } = event.request;
      return { type: event.type, request };
    }
    case 'attempt':
      return {
        type: event.type,
        attempt: {
          ...event.attempt,
          rawBody: new TextDecoder().decode(event.attempt.rawBody),
        },
      };
    case 'delivery': {
      const { id, referenceNumber, status, state, payment } = event.delivery;
      const { merchantPaymentReference } = payment;
      return {
        type: event.type,
        delivery: { id, referenceNumber, merchantPaymentReference, status, state },
      };
    }
    case 'faults':
      return {
        type: event.type,
        faults: event.faults.map((fault) => ({
          ...fault,
          times: fault.times === Number.POSITIVE_INFINITY ? 'unlimited' : fault.times,
        })),
      };
    default:
      return event;
  }
}

/** An event of the mock, or of its control interface. */
type LogEvent = MockEvent | ControlEvent;
type EventOf<Type extends LogEvent['type']> = Extract<LogEvent, { type: Type }>;

/** Formats the mock's log. Remembers when requests arrived, to show how long they took. */
export class MockLog {
  readonly #paint: Paint;
  readonly #now: () => Date;
  readonly #arrivals = new Map<string, number>();

  constructor(paint: Paint, now: () => Date = () => new Date()) {
    this.#paint = paint;
    this.#now = now;
  }

  /** Returns the line for an event, if it has one. */
  describe(event: LogEvent): string | undefined {
    const text = this.#describe(event);
    return text && `${this.#paint('dim', timeOfDay(this.#now()))}  ${text}`;
  }

  #describe(event: LogEvent): string | undefined {
    switch (event.type) {
      case 'request':
        return this.#request(event);
      case 'payment':
        return this.#payment(event);
      case 'attempt':
        return this.#attempt(event);
      case 'delivery':
        return this.#delivery(event);
      case 'clock':
        return 'clock     moved ahead';
      case 'limit':
        return `limit     ${this.#paint('yellow', plainText(event.message))}`;
      case 'reset':
        return 'reset     everything removed';
      case 'state':
        return `settings  callbacks go ${describeCallbackUrl(event.state)}; the mock's clock is at ${plainText(event.state.now)}`;
      default:
        return undefined;
    }
  }

  #request({ request }: EventOf<'request'>): string | undefined {
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
    const reference = referenceIn(request.body);
    if (reference !== undefined) parts.push(plainText(reference));
    return [...parts, `${now - arrival} ms`].join(', ');
  }

  #status(status: number): string {
    return this.#paint(status < 400 ? 'green' : 'red', String(status));
  }

  #payment({ payment }: EventOf<'payment'>): string {
    const { referenceNumber, merchantPaymentReference, history, amount, currency } = payment;
    const before = history.at(-2);
    const status = this.#paint('cyan', plainText(payment.status));
    const change =
      before === undefined
        ? `${status}, ${amount} ${plainText(currency)}`
        : `${plainText(before.status)} → ${status}`;
    return `payment   ${plainText(merchantPaymentReference)} ${change}, ${plainText(referenceNumber)}`;
  }

  #attempt({ attempt }: EventOf<'attempt'>): string {
    const copy = attempt.copy > 0 ? ` (copy ${attempt.copy})` : '';
    const what = `${plainText(attempt.merchantPaymentReference)} ${plainText(attempt.status)}`;
    const next = attempt.nextRetryAt;
    return [
      `callback  ${what}, attempt ${attempt.attempt}${copy}`,
      describeAnswer(attempt, this.#paint),
      ...(next === undefined ? [] : [`next attempt at ${new Date(next).toISOString()}`]),
    ].join(', ');
  }

  // The attempts show the other states.
  #delivery({ delivery }: EventOf<'delivery'>): string | undefined {
    const { state, status } = delivery;
    const { merchantPaymentReference } = 'payment' in delivery ? delivery.payment : delivery;
    const what = `callback  ${plainText(merchantPaymentReference)} ${plainText(status)}`;
    switch (state) {
      case 'not-configured':
        return `${what}, ${this.#paint('yellow', 'not sent: no callback URL is set')}`;
      case 'held':
        return `${what}, ${this.#paint('yellow', "held until the payment's next change")}`;
      case 'given-up':
        return `${what}, ${this.#paint('red', 'will not be retried')}`;
      default:
        return undefined;
    }
  }
}

/** Returns the merchant's reference in the body of a creation. */
export function referenceIn(body: string): string | undefined {
  try {
    const { merchantPaymentReference } = JSON.parse(body) ?? {};
    return typeof merchantPaymentReference === 'string' ? merchantPaymentReference : undefined;
  } catch {
    return undefined;
  }
}
