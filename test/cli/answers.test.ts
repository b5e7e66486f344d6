import { expect, test } from 'vitest';
import { compareAnswers, describeSuccess } from '../../src/cli/commands/callback-send.js';
import type { DeliveryAttempt } from '../../src/mock-server/callbacks/delivery.js';
import { signCallback } from '../../src/testing/index.js';

const signingSecret = 'test-signing-secret';
const seconds = 1_769_860_800;
const sentAt = new Date(seconds * 1000);

const bare = signCallback({ payment: {}, signingSecret, timestamp: seconds });

function send(status: number | undefined, changes: Partial<DeliveryAttempt> = {}): DeliveryAttempt {
  const signed = signCallback({ payment: {}, signingSecret, timestamp: seconds });
  const isAccepted = status !== undefined && status >= 200 && status < 300;
  return {
    url: 'http://127.0.0.1:3000/',
    attempt: 1,
    copy: 0,
    sentAt,
    timestamp: String(seconds),
    ...signed,
    signedString: `${seconds}.${Buffer.from(changes.rawBody ?? signed.rawBody)}`,
    latencyMs: 1,
    ...(status === undefined
      ? { outcome: 'failed', errorCode: 'ECONNREFUSED' }
      : { outcome: isAccepted ? 'acknowledged' : 'refused', response: { status, body: '' } }),
    ...changes,
  } as DeliveryAttempt;
}

const compare = (sent: DeliveryAttempt) => compareAnswers([sent])[0];

const forged = { fault: 'wrong-secret' } as const;

test.each([
  [200, {}, true],
  [302, {}, false],
  [401, {}, false],
  [503, {}, false],
  [200, forged, false],
  [401, forged, true],
  [429, forged, false],
  [500, forged, false],
  [undefined, { outcome: 'dropped' as const }, true],
])('an answer of %s to %o is as expected: %s', (status, changes, expected) => {
  expect(compare(send(status, changes))?.isAsExpected).toBe(expected);
});

test.each([
  ['another was accepted', [503, 200], [true, true]],
  ['none was accepted', [503, 503], [false, false]],
  ['it was refused', [200, 409], [true, false]],
])('a copy that is answered 503, when %s', (_when, statuses, expected) => {
  const copies = statuses.map((status, copy) => send(status, { ...bare, copy }));
  expect(compareAnswers(copies).map(({ isAsExpected }) => isAsExpected)).toEqual(expected);
});

test('a 503 with Retry-After asks for a retry of a valid callback, not of a forged one', () => {
  const asks = {
    outcome: 'refused',
    response: { status: 503, body: '', retryAfter: '1' },
  } as const;
  expect(compare(send(503, asks))).toMatchObject({ expected: 'accepted', isAsExpected: true });
  expect(compare(send(503, { ...forged, ...asks }))?.isAsExpected).toBe(false);
  expect(describeSuccess(compareAnswers([send(503, asks)]))).toMatch(
    /^the endpoint asks for a retry/,
  );
  expect(describeSuccess(compareAnswers([send(200)]))).toBe('the endpoint answered as expected');
});
