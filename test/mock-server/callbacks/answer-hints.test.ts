import { describe, expect, test } from 'vitest';
import { answerLine, hintOf } from '../../../src/mock-server/callbacks/answer-hints.js';

const refused = (status: number, body = '') =>
  ({ outcome: 'refused', response: { status, body } }) as const;

describe('the hint', () => {
  test.each([
    [refused(401), 'compare the signing secret'],
    [refused(404), 'Nothing is mounted'],
    [refused(503), 'asks for a retry'],
    [refused(500, ' \n'), 'Your code failed'],
    [{ outcome: 'timed-out' } as const, 'did not answer in time'],
    [{ outcome: 'failed', errorCode: 'ECONNREFUSED' } as const, 'Nothing listens'],
  ])('of %j', (attempt, hint) => {
    expect(hintOf(attempt)).toContain(hint);
  });

  test.each([
    ['that was acknowledged', { outcome: 'acknowledged', response: { status: 200, body: '' } }],
    ['whose answer speaks', refused(401, '{"code":"SIGNATURE_MISMATCH"}')],
    ['of an unusual status', refused(418)],
    ['of an unknown error', { outcome: 'failed', errorCode: 'EODD' }],
    ['that has no code', { outcome: 'failed' }],
    ['that a fault only repeats', { ...refused(418), fault: 'duplicate' }],
    ['that a fault only delays', { ...refused(418), fault: 'late-callback' }],
  ] as const)('is absent for an attempt %s', (_what, attempt) => {
    expect(hintOf(attempt)).toBeUndefined();
  });

  test('is the fault of the mock first, whatever the answer says', () => {
    expect(hintOf({ ...refused(401, 'Bad signature'), fault: 'wrong-secret' })).toBe(
      'The mock applied the fault wrong-secret: signed with another secret. Your endpoint should answer 401',
    );
    expect(hintOf({ outcome: 'dropped', fault: 'drop' })).toBe(
      'The mock applied the fault drop: lost in transit; a retry may follow.',
    );
  });
});

describe('the line of an answer', () => {
  test.each([
    ['', undefined],
    [' \r\n ', undefined],
    ['first\nsecond', 'first'],
    ['\r\n  first  \r\nsecond', 'first'],
    [
      '{"code":"SIGNATURE_MISMATCH","message":"does not match"}',
      'SIGNATURE_MISMATCH: does not match',
    ],
    ['{"statusCode":404,"message":"Cannot POST /x","error":"Not Found"}', 'Cannot POST /x'],
    ['{"error":"nope"}', 'nope'],
    ['{"code":5}', '{"code":5}'],
    ['{"code":', '{"code":'],
    ['{"message":"two\\nlines"}', 'two'],
    [
      '<!DOCTYPE html>\n<html>\n<head><title>Error</title><style>p > a {}</style></head>\n<body>\n<pre>TypeError: x<br> at y</pre>',
      'TypeError: x at y',
    ],
    ['x'.repeat(5_000), 'x'.repeat(200)],
    ['<'.repeat(5_000), undefined],
  ])('%j', (body, line) => {
    expect(answerLine(body)).toBe(line);
  });
});
