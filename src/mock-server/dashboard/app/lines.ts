import type {
  ControlAttempt,
  ControlDelivery,
  ControlPayment,
  ControlRequest,
  ControlState,
} from '../../control/control-types.js';

/** The meaning of a colour. A word beside it always says the same. */
export type Tone = 'good' | 'waiting' | 'bad' | 'info' | 'returned' | 'neutral';

/** A line of the stream: a request of the merchant's code with its answer, or a callback with its answer. */
export interface Line {
  /** Names it in the address. */
  readonly key: string;
  readonly at: string;
  /** `→ POST /api/payments`, `← callback, try 2` */
  readonly what: string;
  readonly order: string;
  readonly price?: string | undefined;
  /** The status that the callback told of, or that the payment of a request has now. */
  readonly status?: string | undefined;
  readonly answer: { readonly text: string; readonly tone: Tone };
  /** Why it is not as it should be, or what else to know. */
  readonly why?: string | undefined;
  readonly fault?: string | undefined;
  readonly nextRetryAt?: string | undefined;
  /** Its payment's referenceNumber. */
  readonly payment?: string | undefined;
  /** What it shows when it is opened. */
  readonly source:
    | { readonly request: ControlRequest }
    | { readonly delivery: ControlDelivery; readonly attempt?: ControlAttempt | undefined };
}

/** Requests and callbacks in one list, newest first. */
export function linesOf({ requests, deliveries, payments }: ControlState): Line[] {
  const byNumber = new Map(payments.map((payment) => [payment.referenceNumber, payment]));
  const sent = requests.map((request) =>
    lineOfRequest(request, byNumber.get(request.referenceNumber ?? '')),
  );
  const callbacks = deliveries.flatMap((delivery) => {
    const payment = byNumber.get(delivery.referenceNumber);
    const isWaiting = ['sending', 'held', 'not-configured'].includes(delivery.state);
    const attempts = delivery.attempts.map((attempt) => lineOfAttempt(delivery, attempt, payment));
    const all = isWaiting ? [...attempts, lineOfDelivery(delivery, payment)] : attempts;
    return all.toReversed();
  });
  // Stable: of the same instant, a callback is newer than its request.
  return [...callbacks, ...sent].sort((left, right) => Date.parse(right.at) - Date.parse(left.at));
}

const priceOf = (payment: ControlPayment | undefined): string | undefined =>
  payment && `${payment.amount} ${payment.currency}`;

function lineOfRequest(request: ControlRequest, payment: ControlPayment | undefined): Line {
  const { requestId, at, method, path, fault, answerLine, referenceNumber } = request;
  return {
    key: requestId,
    at,
    what: `→ ${method} ${path}`,
    order: request.merchantPaymentReference ?? '',
    price: priceOf(payment),
    status: payment?.status,
    answer: answerOfRequest(request),
    why:
      payment?.secondOf === undefined
        ? (answerLine ?? (request.outcome === 'lost' ? whyLost(request) : undefined))
        : 'a second payment of this order',
    fault,
    payment: referenceNumber,
    source: { request },
  };
}

function answerOfRequest({ outcome, status, answer }: ControlRequest): Line['answer'] {
  if (outcome === 'waiting') return { text: 'waiting', tone: 'waiting' };
  if (outcome === 'lost') {
    return { text: answer === undefined ? 'no answer' : `${answer.status} lost`, tone: 'bad' };
  }
  return { text: String(status), tone: outcome === 'accepted' ? 'good' : 'bad' };
}

const whyLost = ({ referenceNumber }: ControlRequest): string =>
  referenceNumber === undefined
    ? 'no payment was created, but your code cannot know'
    : 'the payment exists, but your code cannot know';

function lineOfAttempt(
  delivery: ControlDelivery,
  attempt: ControlAttempt,
  payment: ControlPayment | undefined,
): Line {
  const { attempt: number, copy, fault, nextRetryAt, answerLine, hint, forged } = attempt;
  const isLast = delivery.attempts.at(-1) === attempt;
  const tries = `${number > 1 ? `, try ${number}` : ''}${copy > 0 ? `, copy ${copy}` : ''}`;
  return {
    ...callbackLine(delivery, payment),
    key: attempt.id,
    at: attempt.sentAt,
    what: `← callback${tries}`,
    answer: { text: writeAnswer(attempt), tone: toneOf(attempt) },
    why: forged ? hint : (answerLine ?? hint),
    fault,
    nextRetryAt: isLast && delivery.state === 'retrying' ? nextRetryAt : undefined,
    source: { delivery, attempt },
  };
}

const callbackLine = (delivery: ControlDelivery, payment: ControlPayment | undefined) => ({
  order: delivery.merchantPaymentReference,
  price: priceOf(payment),
  status: delivery.status,
  payment: delivery.referenceNumber,
});

const WAITING: Partial<Record<ControlDelivery['state'], Pick<Line, 'answer' | 'why'>>> = {
  'not-configured': {
    answer: { text: 'not sent', tone: 'waiting' },
    why: 'no callback URL was set',
  },
  held: { answer: { text: 'held', tone: 'waiting' }, why: 'until the next change was sent' },
};

/** A callback that has not been sent, or whose answer is awaited. */
function lineOfDelivery(delivery: ControlDelivery, payment: ControlPayment | undefined): Line {
  const last = delivery.attempts.at(-1);
  return {
    ...callbackLine(delivery, payment),
    key: delivery.id,
    // A resent one has the time of its change.
    at: last?.sentAt ?? delivery.updatedAt,
    what: `← callback${last ? `, try ${last.attempt + 1}` : ''}`,
    answer: { text: 'sending', tone: 'waiting' },
    ...WAITING[delivery.state],
    source: { delivery },
  };
}

/** `503`, `ECONNREFUSED`, `timed out`, `dropped` */
function writeAnswer({ outcome, response, errorCode }: ControlAttempt): string {
  if (response !== undefined) return String(response.status);
  return outcome === 'timed-out' ? 'timed out' : (errorCode ?? outcome);
}

/** A forged callback must be refused, any other acknowledged. */
function toneOf({ outcome, forged, response }: ControlAttempt): Tone {
  const status = response?.status ?? 0;
  if (outcome === 'dropped') return 'waiting';
  const isRefused = status >= 400 && status < 500;
  return (forged ? isRefused : outcome === 'acknowledged') ? 'good' : 'bad';
}

const texts = new WeakMap<object, string>();

/** Whether a text is in a line, in its bodies or in its headers; `search` is in lower case. */
export function isFound(line: Line, search: string): boolean {
  const source = 'request' in line.source ? line.source.request : line.source.attempt;
  const { status, why, order, key } = line;
  const shown = [line.what, order, status, why, line.answer.text, line.payment, key, line.fault];
  if (shown.join('\n').toLowerCase().includes(search)) return true;
  if (source === undefined) return false;
  const text = texts.get(source) ?? allText(source).toLowerCase();
  texts.set(source, text);
  return text.includes(search);
}

const allText = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? Object.values(value).map(allText).join('\n')
    : String(value);

/** Says how an action that sends a callback ended. */
export function describeResult(delivery: ControlDelivery): string {
  const last = delivery.attempts.at(-1);
  const line = last
    ? lineOfAttempt(delivery, last, undefined)
    : lineOfDelivery(delivery, undefined);
  const why = line.why === undefined ? '' : `: ${line.why}`;
  return `${delivery.status}, ${line.answer.text}${why}`;
}

const CONTENT_TYPE = 'content-type';

/** Returns a command for a POSIX shell that sends the same bytes and headers again. */
export function writeCurlCommand({ url, headers, rawBody }: ControlAttempt): string {
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  // By default curl sends a form's content type; a name with only a colon makes it send none.
  if (!(CONTENT_TYPE in headers)) lines.push(`-H ${quote(`${CONTENT_TYPE}:`)}`);
  return [
    // Otherwise curl takes brackets in a URL for patterns.
    `curl --globoff -i -X POST ${quote(url)}`,
    ...lines,
    `--data-raw ${quote(rawBody)}`,
  ].join(' \\\n  ');
}

// Within single quotes, only the quote itself is special.
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
