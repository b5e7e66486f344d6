import type { DeliveryOutcome, DeliveryState } from '../../callbacks/delivery.js';
import type {
  ControlAttempt,
  ControlDelivery,
  ControlPayment,
} from '../../control/control-types.js';
import { faultCatalogue } from '../../faults/fault-catalogue.js';
import { writeDuration } from './format.js';
import type { Tone } from './status-kind.js';

interface StateText {
  readonly label: string;
  readonly sign: string;
  readonly tone: Tone;
  readonly sentence: string;
}

export const deliveryStates: Readonly<Record<DeliveryState, StateText>> = {
  'not-configured': {
    label: 'Not sent',
    sign: '–',
    tone: 'waiting',
    sentence: 'No callback URL was set, so nothing was sent.',
  },
  held: {
    label: 'Held',
    sign: '‖',
    tone: 'waiting',
    sentence: 'A reorder fault holds it until the payment’s next change has been delivered.',
  },
  sending: { label: 'Sending', sign: '→', tone: 'waiting', sentence: 'An attempt is in progress.' },
  retrying: {
    label: 'Retrying',
    sign: '↻',
    tone: 'waiting',
    sentence: 'Not acknowledged yet.',
  },
  acknowledged: {
    label: 'Acknowledged',
    sign: '✓',
    tone: 'good',
    sentence: 'Your endpoint answered with 2xx. Nothing more is sent.',
  },
  'given-up': {
    label: 'Given up',
    sign: '✕',
    tone: 'bad',
    sentence: 'Every attempt failed and the retry schedule is used up. Nothing more is sent.',
  },
  cancelled: {
    label: 'Cancelled',
    sign: '∅',
    tone: 'neutral',
    sentence: 'The mock was reset or closed before it was delivered.',
  },
};

export const outcomeTones = {
  acknowledged: 'good',
  refused: 'bad',
  failed: 'bad',
  'timed-out': 'bad',
  dropped: 'waiting',
} as const satisfies Readonly<Record<DeliveryOutcome, Tone>>;

const NETWORK_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at that address',
  ECONNRESET: 'your endpoint broke the connection',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host could not be looked up',
};

/** Describes how an attempt ended. */
export function describeOutcome({ outcome, response, errorCode }: ControlAttempt): string {
  if (response !== undefined) {
    const verb = outcome === 'acknowledged' ? 'acknowledged' : 'refused';
    return `${verb} with HTTP ${response.status}`;
  }
  if (outcome === 'timed-out') return 'no complete answer in time';
  if (outcome === 'dropped') return 'not sent because of a drop fault';
  const meaning = NETWORK_ERRORS[errorCode ?? ''];
  const code = errorCode ?? 'the connection failed';
  return `no complete answer: ${code}${meaning === undefined ? '' : `, ${meaning}`}`;
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

export type TimelineEntry =
  | {
      readonly kind: 'change';
      readonly change: ControlPayment['history'][number];
      readonly isFirst: boolean;
    }
  | { readonly kind: 'delivery'; readonly delivery: ControlDelivery; readonly isResend: boolean };

/** Status changes and deliveries in one list, newest first. */
export function mergeTimeline(
  { history, createdAt }: Pick<ControlPayment, 'history' | 'createdAt'>,
  deliveries: readonly ControlDelivery[],
): TimelineEntry[] {
  const changes = history.map((change) => ({
    atMs: Date.parse(change.at),
    // Not the first of the list: the oldest of many changes are not kept.
    entry: { kind: 'change', change, isFirst: change.at === createdAt } as TimelineEntry,
  }));
  // A resend has the time of the change that it repeats. It was made no earlier than the delivery before
  // it, and no later than its own first attempt.
  let latestMs = 0;
  const changesSeen = new Set<string>();
  const sent = deliveries.map((delivery) => {
    const startedAt = delivery.attempts[0]?.sentAt ?? delivery.updatedAt;
    latestMs = Math.max(latestMs, Date.parse(startedAt), Date.parse(delivery.updatedAt));
    const isResend = changesSeen.has(delivery.updatedAt);
    changesSeen.add(delivery.updatedAt);
    return { atMs: latestMs, entry: { kind: 'delivery', delivery, isResend } as TimelineEntry };
  });
  return [...changes, ...sent]
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
