import { describe, expect, test } from 'vitest';
import { answerLine, hintOf } from '../../../src/mock-server/callbacks/answer-hints.js';

const sent = {
  timestamp: '1',
  rawBody: new TextEncoder().encode('{}'),
  signedString: '1.{}',
} as const;
const refused = (status: number, body = '') =>
  ({ ...sent, outcome: 'refused', response: { status, body } }) as const;

describe('the hint', () => {
  test.each([
    [refused(401), 'compare the signing secret'],
    [refused(404), 'Nothing is mounted'],
    [refused(503), 'asks for a retry'],
    [refused(500, ' \n'), 'Your code failed'],
    [{ ...sent, outcome: 'timed-out' } as const, 'did not answer in time'],
    [{ ...sent, outcome: 'failed', errorCode: 'ECONNREFUSED' } as const, 'Nothing listens'],
  ])('of %j', (attempt, hint) => {
    expect(hintOf(attempt)).toContain(hint);
  });

  test.each([
    ['that was acknowledged', { ...refused(200), outcome: 'acknowledged' }],
    ['of an unusual status', refused(418)],
    ['of an unknown error', { ...sent, outcome: 'failed', errorCode: 'EODD' }],
    ['that a fault only repeats', { ...refused(418), fault: 'duplicate' }],
  ] as const)('is absent for an attempt %s', (_what, attempt) => {
    expect(hintOf(attempt)).toBeUndefined();
  });

  test('is the forgery first, whatever the answer says', () => {
    expect(hintOf({ ...refused(401, 'Bad signature'), fault: 'wrong-secret' })).toBe(
      'Forged by the fault wrong-secret: signed with another secret. Your endpoint should answer 401',
    );
    expect(hintOf({ ...refused(401), signedString: '1.{"edited":true}' })).toBe(
      'Forged by an edit after signing. Your endpoint should answer 401',
    );
    expect(hintOf({ ...refused(200), outcome: 'acknowledged', fault: 'wrong-secret' })).toContain(
      'accepted a forged callback',
    );
    expect(hintOf({ ...sent, outcome: 'dropped', fault: 'drop' })).toBe(
      'Not sent, by the fault drop: lost in transit; a retry may follow.',
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
    ['{"message":"two\\nlines"}', 'two'],
    [
      '<!DOCTYPE html>\n<html>\n<head><title>Error</title><style>p > a {}</style></head>\n<body>\n<pre>TypeError: x<br> at y</pre>',
      'TypeError: x at y',
    ],
    ['<p>&quot;a&quot; isn&#39;t &lt;b&gt; &amp; &#x63;&nbsp;&odd;</p>', `"a" isn't <b> & c &odd;`],
    ['x'.repeat(5_000), 'x'.repeat(200)],
    ['<'.repeat(5_000), undefined],
  ])('%j', (body, line) => {
    expect(answerLine(body)).toBe(line);
  });
});
