import type {
  ControlAttempt,
  ControlEvent,
  ControlPayment,
  ControlRequest,
} from '../../control/control-types.js';
import { describeOutcome, outcomeTones } from './delivery-text.js';
import { toHash } from './route.js';
import { Card } from './section.js';
import { kindOfStatus, type Tone } from './status-kind.js';
import { Time } from './time.js';

/** A line of the live feed. */
export interface FeedEntry {
  readonly key: string;
  readonly at: string;
  readonly tone: Tone;
  readonly sign: string;
  readonly title: string;
  readonly text: string;
  /** The payment it is about. */
  readonly referenceNumber?: string | undefined;
}

const signs = { good: '✓', bad: '✕', waiting: '…' } as const;

/** Returns the entry for an event, if any. A successful request has none: the payment that it created does. */
export function toFeedEntry(event: ControlEvent): FeedEntry | undefined {
  if (event.type === 'payment') return entryOfPayment(event.payment).at(-1);
  if (event.type === 'attempt') return entryOfAttempt(event.attempt);
  return event.type === 'request' ? entryOfRequest(event.request) : undefined;
}

/** Returns an entry for each status of the payment. */
export function entryOfPayment(payment: ControlPayment): FeedEntry[] {
  const { referenceNumber, merchantPaymentReference, createdAt, history } = payment;
  return history.map(({ status, at }) => ({
    key: `payment ${referenceNumber} ${at}`,
    at,
    ...kindOfStatus(status),
    title: merchantPaymentReference,
    text: at === createdAt ? 'created' : `set to ${status}`,
    referenceNumber,
  }));
}

export function entryOfAttempt(attempt: ControlAttempt): FeedEntry {
  const { id, sentAt, outcome, merchantPaymentReference, referenceNumber, status } = attempt;
  const tone = outcomeTones[outcome];
  const number = attempt.attempt > 1 ? `, attempt ${attempt.attempt}` : '';
  return {
    key: `attempt ${id}`,
    at: sentAt,
    tone,
    sign: signs[tone],
    title: merchantPaymentReference,
    text: `callback ${status}${number}: ${describeOutcome(attempt)}`,
    referenceNumber,
  };
}

export function entryOfRequest(request: ControlRequest): FeedEntry | undefined {
  const { requestId, at, method, path, status, ended, fault } = request;
  if (!ended || (status !== undefined && status < 400 && fault === undefined)) return undefined;
  const answer = status === undefined ? 'no answer' : `HTTP ${status}`;
  return {
    key: `request ${requestId}`,
    at,
    tone: 'bad',
    sign: signs.bad,
    title: `${method} ${path}`,
    text: fault === undefined ? answer : `${answer}, fault ${fault}`,
  };
}

/** More than anyone reads. */
const MAX_ENTRIES = 60;

/** Returns the newest entries, each once. */
export function mergeFeed(
  feed: readonly FeedEntry[],
  added: readonly FeedEntry[],
): readonly FeedEntry[] {
  const entries = new Map([...feed, ...added].map((entry) => [entry.key, entry]));
  return [...entries.values()]
    .sort((left, right) => Date.parse(right.at) - Date.parse(left.at))
    .slice(0, MAX_ENTRIES);
}

/** Events as they happen. Not a live region: the page announces callbacks already. */
export function Feed({ entries }: { entries: readonly FeedEntry[] }) {
  return (
    <Card title="Live feed" class="feed">
      {entries.length === 0 ? (
        <p class="muted">Nothing has happened yet.</p>
      ) : (
        <ol>
          {entries.map((entry) => (
            <li key={entry.key}>
              <Entry entry={entry} />
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function Entry({ entry: { referenceNumber, sign, tone, title, text, at } }: { entry: FeedEntry }) {
  const href = toHash(
    referenceNumber === undefined ? { view: 'requests' } : { view: 'payments', referenceNumber },
  );
  return (
    <a href={href} class="feed-row">
      <span class={`${tone}-text feed-sign`} aria-hidden="true">
        {sign}
      </span>
      <span class="feed-text">
        <bdi class="feed-title">{title}</bdi> <bdi>{text}</bdi>
      </span>
      <Time at={at} />
    </a>
  );
}
