import type { DeliveryOutcome, DeliveryState } from '../../callbacks/delivery.js';
import type {
  ControlAttempt,
  ControlCallback,
  ControlDelivery,
  ControlPaymentDetail,
  ControlRequest,
} from '../../control/control-types.js';
import { faultCatalogue } from '../../faults/fault-catalogue.js';
import { writeDuration } from './format.js';

/** The meaning of a colour. A word beside it always says the same. */
export type Tone = 'good' | 'waiting' | 'bad' | 'info' | 'returned' | 'neutral';

interface StateText {
  readonly text: string;
  readonly sign: string;
  readonly tone: Tone;
  readonly sentence: string;
}

const state = (sign: string, tone: Tone, text: string, sentence: string): StateText => ({
  sign,
  tone,
  text,
  sentence,
});

export const deliveryStates: Readonly<Record<DeliveryState, StateText>> = {
  'not-configured': state('–', 'waiting', 'Not sent', 'No callback URL was set.'),
  held: state('‖', 'waiting', 'Held', 'A reorder fault holds it until the next change was sent.'),
  sending: state('→', 'waiting', 'Sending', 'An attempt is in progress.'),
  retrying: state('↻', 'waiting', 'Retrying', 'Not acknowledged yet.'),
  acknowledged: state('✓', 'good', 'Acknowledged', 'Nothing more is sent.'),
  'given-up': state('✕', 'bad', 'Given up', 'Every attempt failed. Nothing more is sent.'),
  cancelled: state('∅', 'neutral', 'Cancelled', 'The mock was reset or closed first.'),
};

/** The names of the groups of callbacks, in the order in which they are listed. */
export const callbackGroups: Readonly<Record<ControlCallback['group'], string>> = {
  failed: 'Failed',
  waiting: 'Waiting',
  'not-sent': 'Not sent',
  done: 'Done',
};

export const outcomeTones = {
  acknowledged: 'good',
  refused: 'bad',
  failed: 'bad',
  'timed-out': 'bad',
  dropped: 'waiting',
} as const satisfies Readonly<Record<DeliveryOutcome, Tone>>;

type Ended = Pick<ControlAttempt, 'outcome' | 'errorCode'> & {
  readonly response?: { readonly status: number } | undefined;
};

/** `HTTP 503`, `ECONNREFUSED`, `timed out` */
export function describeResponse({ outcome, response, errorCode }: Ended): string {
  if (response !== undefined) return `HTTP ${response.status}`;
  if (outcome === 'timed-out') return 'timed out';
  return errorCode ?? outcome;
}

/** Describes how an attempt ended. */
export function describeOutcome(attempt: Ended): string {
  const { outcome } = attempt;
  if (attempt.response !== undefined) {
    return `${outcome === 'acknowledged' ? outcome : 'refused'} with ${describeResponse(attempt)}`;
  }
  if (outcome === 'timed-out') return 'no complete answer in time';
  if (outcome === 'dropped') return 'not sent because of a drop fault';
  return `no complete answer: ${attempt.errorCode ?? 'the connection failed'}`;
}

/** Describes the result of an action that sends a callback. */
export function describeResult({ status, state, attempts }: ControlDelivery): string {
  const last = attempts.at(-1);
  if (last === undefined) return `${status}: ${deliveryStates[state].sentence}`;
  const times = attempts.length > 1 ? `, sent ${attempts.length} times` : '';
  return `${status}: ${describeOutcome(last)}${times}.`;
}

/** Returns whether what was sent is what was signed: timestamp, full stop, body. */
export function isAsSigned({ timestamp, rawBody, signedString }: ControlAttempt): boolean {
  return `${timestamp}.${rawBody}` === signedString;
}

/** Judges the endpoint's answer to a forged callback; `undefined` for any other. */
export function judgeAnswer(attempt: ControlAttempt): { tone: Tone; text: string } | undefined {
  if (attempt.response === undefined || !isForged(attempt)) return undefined;
  return attempt.outcome === 'acknowledged'
    ? { tone: 'bad', text: 'Your endpoint accepted a callback that it must refuse.' }
    : { tone: 'good', text: 'Your endpoint refused it, as it should.' };
}

// Whether a stale timestamp must be refused depends on the endpoint's window, so it is not judged.
function isForged(attempt: ControlAttempt): boolean {
  const { fault, headers } = attempt;
  // Edited by hand, and sent with the signature of the original body.
  if (fault === undefined) return !isAsSigned(attempt);
  if (fault === 'missing-header') return !('x-timestamp' in headers && 'x-signature' in headers);
  const entry = faultCatalogue[fault];
  return entry?.on === 'callback' && entry.refusal === 'must';
}

export function describeNextRetry(nextRetryAt: string, nowMs: number): string {
  const leftMs = Date.parse(nextRetryAt) - nowMs;
  return leftMs > 0 ? `Next attempt in ${writeDuration(leftMs)}.` : 'Next attempt is due now.';
}

/** The attempt that explains most: the newest that failed, or else the newest. */
export function telling(deliveries: readonly ControlDelivery[]): string | undefined {
  const attempts = deliveries.flatMap((delivery) => delivery.attempts);
  const failed = attempts.filter((attempt) => {
    const tone = judgeAnswer(attempt)?.tone ?? outcomeTones[attempt.outcome];
    return tone === 'bad';
  });
  const newest = (failed.length > 0 ? failed : attempts).reduce<ControlAttempt | undefined>(
    (last, each) => (last && Date.parse(last.sentAt) > Date.parse(each.sentAt) ? last : each),
    undefined,
  );
  return newest?.id;
}

export type TimelineEntry =
  | {
      readonly kind: 'change';
      readonly change: ControlPaymentDetail['payment']['history'][number];
      readonly isFirst: boolean;
    }
  | { readonly kind: 'delivery'; readonly delivery: ControlDelivery; readonly isResend: boolean }
  | { readonly kind: 'request'; readonly request: ControlRequest };

type Story = Pick<ControlPaymentDetail, 'deliveries' | 'requests'> & {
  readonly payment: Pick<ControlPaymentDetail['payment'], 'history' | 'createdAt'>;
};

/** Requests, status changes and deliveries in one list, newest first. */
export function mergeTimeline({ payment, deliveries, requests }: Story): TimelineEntry[] {
  const sent = requests.map((request) => ({
    atMs: Date.parse(request.at),
    entry: { kind: 'request', request } as TimelineEntry,
  }));
  const changes = payment.history.map((change) => ({
    atMs: Date.parse(change.at),
    // Not the first of the list: the oldest of many changes are not kept.
    entry: { kind: 'change', change, isFirst: change.at === payment.createdAt } as TimelineEntry,
  }));
  // A resend has the time of the change that it repeats. It was made no earlier than the delivery before
  // it, and no later than its own first attempt.
  let latestMs = 0;
  const changesSeen = new Set<string>();
  const callbacks = deliveries.map((delivery) => {
    const startedAt = delivery.attempts[0]?.sentAt ?? delivery.updatedAt;
    latestMs = Math.max(latestMs, Date.parse(startedAt), Date.parse(delivery.updatedAt));
    const isResend = changesSeen.has(delivery.updatedAt);
    changesSeen.add(delivery.updatedAt);
    return { atMs: latestMs, entry: { kind: 'delivery', delivery, isResend } as TimelineEntry };
  });
  return [...sent, ...changes, ...callbacks]
    .sort((left, right) => left.atMs - right.atMs)
    .map(({ entry }) => entry)
    .reverse();
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
