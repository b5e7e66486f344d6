import { expect, test } from 'vitest';
import { describeFailure, describeSent, judgeAnswers } from '../../src/cli/judgement.js';
import type { SentCallback } from '../../src/cli/sending.js';
import { signCallback } from '../../src/testing/index.js';

const signingSecret = 'test-signing-secret';
const seconds = 1_769_860_800;
const sentAt = new Date(seconds * 1000);

function send(status: number | undefined, changes: Partial<SentCallback> = {}): SentCallback {
  const isAccepted = status !== undefined && status >= 200 && status < 300;
  return {
    url: 'http://127.0.0.1:3000/',
    attempt: 1,
    copy: 0,
    sentAt,
    ...signCallback({ payment: {}, signingSecret, timestamp: seconds }),
    latencyMs: 1,
    ...(status === undefined
      ? { outcome: 'failed', errorCode: 'ECONNREFUSED' }
      : { outcome: isAccepted ? 'acknowledged' : 'refused', response: { status, body: '' } }),
    ...changes,
  };
}

const judge = (sent: SentCallback) =>
  judgeAnswers([sent], { signingSecret, areCopiesAtOnce: false })[0]?.judgement;

const forged = signCallback({ payment: {}, signingSecret: 'other', timestamp: seconds });
const bare = signCallback({ payment: {}, signingSecret, timestamp: seconds });
const { 'content-type': _type, ...withoutType } = bare.headers;
const untyped = { ...bare, headers: withoutType };

test.each([
  [200, {}, true],
  [204, {}, true],
  [302, {}, false],
  [401, {}, false],
  [503, {}, false],
  [undefined, {}, false],
  [200, forged, false],
  [302, forged, false],
  [400, forged, true],
  [401, forged, true],
  [429, forged, false],
  [500, forged, false],
  [undefined, forged, false],
  [200, untyped, true],
  [415, untyped, true],
  [500, untyped, false],
  [undefined, { outcome: 'dropped' as const }, true],
])('an answer of %s to %o is as expected: %s', (status, changes, expected) => {
  expect(judge(send(status, changes))?.isAsExpected).toBe(expected);
});

test('names the reason why verification refuses it, at the time it was sent', () => {
  expect(judge(send(401, forged))).toMatchObject({
    expected: 'refused',
    reason: 'SIGNATURE_MISMATCH',
  });
  const late = new Date((seconds + 301) * 1000);
  expect(judge(send(401, { sentAt: late }))).toMatchObject({ reason: 'TIMESTAMP_OUTSIDE_WINDOW' });
  expect(judge(send(200, { sentAt: new Date((seconds + 300) * 1000) }))).toEqual({
    expected: 'accepted',
    isAsExpected: true,
  });
  const other = signCallback({ payment: '[]', signingSecret, timestamp: seconds });
  expect(judge(send(422, other))).toMatchObject({ expected: 'refused', reason: 'INVALID_RECORD' });
});

test.each([
  ['another was accepted', [503, 200], true, [true, true]],
  ['none was accepted', [503, 503], true, [false, false]],
  ['they were not sent at once', [200, 503], false, [true, false]],
  ['it was refused', [200, 409], true, [true, false]],
])('a copy that is answered 503, when %s', (_when, statuses, areCopiesAtOnce, expected) => {
  const copies = statuses.map((status, copy) => send(status, { ...bare, copy }));
  expect(
    judgeAnswers(copies, { signingSecret, areCopiesAtOnce }).map(
      ({ judgement }) => judgement.isAsExpected,
    ),
  ).toEqual(expected);
});

test('a copy of another callback is not a copy', () => {
  const all = [send(503), send(200)];
  const [first] = judgeAnswers(all, { signingSecret, areCopiesAtOnce: true });
  expect(first?.judgement.isAsExpected).toBe(false);
});

function failureOf(...all: readonly SentCallback[]) {
  return describeFailure(judgeAnswers(all, { signingSecret, areCopiesAtOnce: false }));
}

test('what went wrong is one line', () => {
  expect(failureOf(send(200), send(202))).toBeUndefined();
  expect(failureOf(send(200), send(500), send(undefined))).toBe(
    'the endpoint answered 500, but a valid callback must be accepted with 2xx, and 1 more answers were not as expected; merchant-payments check finds the cause',
  );
  expect(failureOf(send(undefined))).toContain('did not answer (ECONNREFUSED)');
  expect(failureOf(send(undefined, { outcome: 'timed-out', errorCode: undefined }))).toContain(
    'did not answer (timed-out)',
  );
  expect(failureOf(send(200, forged))).toContain('fails verification with SIGNATURE_MISMATCH');
  expect(failureOf(send(500, untyped))).toContain('2xx or 4xx');
});

test('what was sent and answered is shown escaped and shortened', () => {
  const sent = send(200, {
    rawBody: Buffer.from('x'.repeat(401)),
    response: { status: 200, body: '\u001b[2J' },
  });
  const judged = judgeAnswers([sent], { signingSecret, areCopiesAtOnce: false });
  const text = judged.flatMap((one) => describeSent(one, (_style, line) => line)).join('\n');
  expect(text).toContain('  \\x1b[2J');
  expect(text).toContain(`${'x'.repeat(400)}… (401 characters)`);
});
