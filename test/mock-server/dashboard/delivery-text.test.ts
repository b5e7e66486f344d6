import { describe, expect, test } from 'vitest';
import type {
  ControlAttempt,
  ControlDelivery,
} from '../../../src/mock-server/control/control-types.js';
import {
  describeNextRetry,
  describeOutcome,
  judgeAnswer,
  mergeTimeline,
} from '../../../src/mock-server/dashboard/app/delivery-text.js';

const attempt: ControlAttempt = {
  id: 'attempt-1',
  deliveryId: 'delivery-1',
  referenceNumber: 'payment-1',
  merchantPaymentReference: 'order-1',
  status: 'paid',
  attempt: 1,
  copy: 0,
  url: 'http://127.0.0.1:3000/',
  sentAt: '2026-01-31T12:00:00.000Z',
  timestamp: '1769860800',
  headers: { 'content-type': 'application/json', 'x-timestamp': '1769860800', 'x-signature': 'ab' },
  rawBody: '{}',
  signedString: '1769860800.{}',
  outcome: 'acknowledged',
  response: { status: 200, body: '' },
  latencyMs: 1,
};

describe('how an attempt ended, in words', () => {
  const { response: _response, ...unanswered } = attempt;
  test.each([
    ['acknowledged with HTTP 200', attempt],
    [
      'refused with HTTP 302',
      { ...attempt, outcome: 'refused', response: { status: 302, body: '' } },
    ],
    ['no complete answer in time', { ...unanswered, outcome: 'timed-out' }],
    ['not sent because of a drop fault', { ...unanswered, outcome: 'dropped' }],
    [
      'no complete answer: ECONNREFUSED',
      { ...unanswered, outcome: 'failed', errorCode: 'ECONNREFUSED' },
    ],
    ['no complete answer: EOTHER', { ...unanswered, outcome: 'failed', errorCode: 'EOTHER' }],
  ] as const)('%s', (text, ended) => {
    expect(describeOutcome(ended)).toBe(text);
  });
});

describe('the verdict on the answer to a forged callback', () => {
  const refused = { outcome: 'refused', response: { status: 401, body: '' } } as const;
  const { 'x-signature': _signature, ...unsigned } = attempt.headers;
  const { 'content-type': _type, ...untyped } = attempt.headers;

  test.each(['tampered-body', 'wrong-secret', 'reserialized-body'] as const)(
    '%s is judged',
    (fault) => {
      expect(judgeAnswer({ ...attempt, fault })?.tone).toBe('bad');
      expect(judgeAnswer({ ...attempt, fault, ...refused })?.tone).toBe('good');
    },
  );

  test('a missing signature is judged, a missing content type is not', () => {
    const fault = 'missing-header';
    expect(judgeAnswer({ ...attempt, fault, headers: unsigned })?.tone).toBe('bad');
    expect(judgeAnswer({ ...attempt, fault, headers: untyped })).toBeUndefined();
  });

  test.each(['stale-timestamp', 'duplicate', 'extra-field', undefined] as const)(
    '%s is not judged',
    (fault) => {
      expect(judgeAnswer({ ...attempt, fault })).toBeUndefined();
    },
  );

  test('without an answer there is no verdict', () => {
    const { response: _response, ...unanswered } = attempt;
    const failed = { ...unanswered, outcome: 'failed', fault: 'wrong-secret' } as const;
    expect(judgeAnswer(failed)).toBeUndefined();
  });
});

// Units are written in the reader's language.
test.each([
  [42_000, ['42']],
  [41_001, ['42']],
  [59_001, ['1']],
  [3_600_000, ['1']],
  [3_725_000, ['1', '2']],
  [97_200_000, ['1', '3']],
  [1, ['1']],
])('%i ms before it is due: the two largest units, %j', (leftMs, numbers) => {
  const dueAt = '2026-01-31T12:00:00.000Z';
  const text = describeNextRetry(dueAt, Date.parse(dueAt) - leftMs);
  expect(text).toMatch(/^Next attempt in /);
  expect(text.match(/\d+/g)).toEqual(numbers);
});

test.each([0, -5_000])('%i ms before it is due: now', (leftMs) => {
  const dueAt = '2026-01-31T12:00:00.000Z';
  expect(describeNextRetry(dueAt, Date.parse(dueAt) - leftMs)).toBe('Next attempt is due now.');
});

describe('the timeline', () => {
  const at = (seconds: number) => `2026-01-31T12:00:${String(seconds).padStart(2, '0')}.000+00:00`;
  const delivery = (id: string, updatedAt: string, sentAt?: string): ControlDelivery => ({
    id,
    referenceNumber: 'payment-1',
    status: 'paid',
    updatedAt,
    state: 'acknowledged',
    attempts: sentAt === undefined ? [] : [{ ...attempt, sentAt }],
  });
  const history = [
    { status: 'created', at: at(0) },
    { status: 'paid', at: at(1) },
    { status: 'refunded', at: at(5) },
  ];
  const read = (deliveries: readonly ControlDelivery[]) =>
    mergeTimeline({ payment: { history, createdAt: at(0) }, deliveries, requests: [] }).map(
      (entry) =>
        entry.kind === 'request'
          ? entry.request.requestId
          : entry.kind === 'change'
            ? entry.change.status
            : `${entry.delivery.id}${entry.isResend ? ' again' : ''}`,
    );

  test('is newest first, each delivery above its change', () => {
    const deliveries = [delivery('a', at(1), at(1)), delivery('b', at(5), at(6))];
    expect(read(deliveries)).toEqual(['b', 'refunded', 'a', 'paid', 'created']);
  });

  test('shows the status of the creation, and does not mistake another for it', () => {
    const firstOf = (kept: typeof history) =>
      mergeTimeline({
        payment: { history: kept, createdAt: at(0) },
        deliveries: [],
        requests: [],
      }).map((entry) => entry.kind === 'change' && entry.isFirst);
    expect(firstOf(history)).toEqual([false, false, true]);
    expect(firstOf(history.slice(1))).toEqual([false, false]);
  });

  test('marks a resend, and shows it where it was sent', () => {
    const deliveries = [
      delivery('a', at(1), at(1)),
      delivery('b', at(5), at(6)),
      delivery('c', at(1), at(9)),
    ];
    expect(read(deliveries)).toEqual(['c again', 'b', 'refunded', 'a', 'paid', 'created']);
  });

  test('keeps the order of deliveries not sent yet', () => {
    const deliveries = [
      delivery('a', at(1), at(1)),
      delivery('b', at(5), at(6)),
      delivery('c', at(1)),
    ];
    expect(read(deliveries)).toEqual(['c again', 'b', 'refunded', 'a', 'paid', 'created']);
  });
});
