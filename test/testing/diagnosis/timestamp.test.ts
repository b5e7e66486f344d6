import { describe, expect, test } from 'vitest';
import type { CallbackFindingCode } from '../../../src/testing/index.js';
import {
  COMPACT,
  codesOf,
  diagnose,
  expectExplained,
  hmac,
  NOW_SECONDS,
  now,
  sampleRecord,
  sign,
  TIMESTAMP,
} from './scene.js';

const MILLISECONDS = `${NOW_SECONDS}000`;
const ISO = new Date(NOW_SECONDS * 1000).toISOString();

describe('the unit', () => {
  test('of milliseconds is told, with the option to set', () => {
    const diagnosis = diagnose({ timestamp: MILLISECONDS });
    expect(diagnosis).toMatchObject({
      verified: false,
      signature: 'right',
      payment: sampleRecord(),
      error: { code: 'INVALID_TIMESTAMP' },
    });
    expect(codesOf(diagnosis)).toEqual(['timestamp-unit']);
    expect(diagnosis.findings[0]?.message).toContain('The signature is right apart from that.');
    expect(diagnosis.findings[0]?.remedy).toContain("timestampUnit: 'milliseconds'");
  });

  test('of seconds is told where milliseconds are expected', () => {
    const diagnosis = diagnose({ options: { timestampUnit: 'milliseconds' } });
    expect(codesOf(diagnosis)).toEqual(['timestamp-unit']);
    expect(diagnosis.findings[0]?.remedy).toContain("timestampUnit: 'seconds'");
  });

  test('is told beside a signature that is wrong', () => {
    const diagnosis = diagnose({ timestamp: MILLISECONDS, key: 'other' });
    expect(codesOf(diagnosis)).toEqual(['timestamp-unit', 'unexplained']);
    expect(diagnosis.findings[0]?.message).toContain('The signature does not match either.');
  });

  test('is told beside what else explains the signature', () => {
    const diagnosis = diagnose({ timestamp: MILLISECONDS, rawBody: `${COMPACT}\n` });
    expectExplained(diagnosis, 'timestamp-unit', 'body-trailing-newline');
    expect(diagnosis.findings[0]?.message).toContain('apart from that and the other findings');
  });

  test('that was changed after signing is told', () => {
    const headers = {
      'x-timestamp': TIMESTAMP,
      'x-signature': sign(COMPACT, { timestamp: MILLISECONDS }),
    };
    expectExplained(diagnose({ headers }), 'timestamp-respelled');
  });

  test('that was changed to milliseconds after signing is told', () => {
    const headers = { 'x-timestamp': MILLISECONDS, 'x-signature': sign(COMPACT) };
    expectExplained(diagnose({ headers }), 'timestamp-unit', 'timestamp-respelled');
  });
});

describe('an ISO date', () => {
  test('is told, and that its text was signed', () => {
    const diagnosis = diagnose({ timestamp: ISO });
    expect(codesOf(diagnosis)).toEqual(['timestamp-iso-date']);
    expect(diagnosis.signature).toBe('right');
  });

  test('is told, and that seconds were signed', () => {
    const headers = { 'x-timestamp': ISO, 'x-signature': sign(COMPACT) };
    expectExplained(diagnose({ headers }), 'timestamp-iso-date', 'timestamp-respelled');
  });

  test('outside of the window is told too', () => {
    const timestamp = '2026-01-31T11:00:05Z';
    expect(codesOf(diagnose({ timestamp }))).toEqual([
      'timestamp-iso-date',
      'timestamp-outside-window',
    ]);
  });
});

describe('the window', () => {
  test.each([
    [300, true],
    [-300, true],
    [301, false],
    [-301, false],
  ])('of 300 s takes a skew of %i s: %s', (skewSeconds, verified) => {
    const diagnosis = diagnose({ timestamp: String(NOW_SECONDS - skewSeconds) });
    expect(diagnosis.verified).toBe(verified);
    if (verified) return;
    expect(codesOf(diagnosis)).toEqual(['timestamp-outside-window']);
    expect(diagnosis).toMatchObject({ signature: 'right', payment: sampleRecord() });
    expect(diagnosis.findings[0]?.skewSeconds).toBe(skewSeconds);
    expect(diagnosis.findings[0]?.message).toContain(
      skewSeconds > 0 ? '301 s behind the clock' : '301 s ahead of the clock',
    );
    expect(diagnosis.findings[0]?.message).toContain('The signature is right apart from that.');
  });

  test('is told beside what else is wrong', () => {
    const diagnosis = diagnose({
      timestamp: String(NOW_SECONDS - 400),
      rawBody: JSON.stringify(sampleRecord(), null, 2),
    });
    expectExplained(diagnosis, 'timestamp-outside-window', 'body-respaced');
  });

  test('is told beside a signature that nothing explains', () => {
    const diagnosis = diagnose({ timestamp: '1000', key: 'other' });
    expect(codesOf(diagnosis)).toEqual(['timestamp-outside-window', 'unexplained']);
    expect(diagnosis).not.toHaveProperty('payment');
  });

  test('of a clock that gives no number is told', () => {
    const diagnosis = diagnose({ options: { now: () => Number.NaN } });
    expect(codesOf(diagnosis)).toEqual(['timestamp-outside-window']);
    expect(diagnosis.findings[0]).not.toHaveProperty('skewSeconds');
    expect(diagnosis.findings[0]?.message).toContain('The clock gave no number');
  });

  test('is held against one reading of the clock', () => {
    let readings = 0;
    const stepping = () => {
      readings += 1;
      return now() + readings * 400_000;
    };
    const diagnosis = diagnose({ options: { now: stepping } });
    expect(readings).toBe(1);
    expect(diagnosis.findings[0]?.skewSeconds).toBe(400);
  });

  test('is the one that was given', () => {
    const timestamp = String(NOW_SECONDS - 2);
    expect(diagnose({ timestamp, options: { toleranceSeconds: 1 } }).verified).toBe(false);
    expect(diagnose({ timestamp, options: { toleranceSeconds: 2 } }).verified).toBe(true);
  });
});

describe('a missing X-Timestamp', () => {
  const signature = sign(COMPACT);

  test('is told', () => {
    const diagnosis = diagnose({ headers: { 'x-signature': signature } });
    expect(diagnosis.error?.code).toBe('MISSING_TIMESTAMP');
    expect(codesOf(diagnosis)).toEqual(['timestamp-missing', 'unexplained']);
    expect(diagnosis.findings[0]?.similarHeaders).toEqual([]);
  });

  test.each(['x_timestamp', 'Timestamp', 'HTTP_X_TIMESTAMP', 'x-request-timestamp', 'X-Time'])(
    'is found in %s when it came there',
    (name) => {
      const diagnosis = diagnose({ headers: { [name]: TIMESTAMP, 'x-signature': signature } });
      expectExplained(diagnosis, 'timestamp-missing');
      expect(diagnosis.findings[0]).toMatchObject({
        message: `X-Timestamp is missing; the header ${name} holds the timestamp that was signed.`,
        similarHeaders: [name],
      });
    },
  );

  test('is told beside a missing signature', () => {
    const diagnosis = diagnose({ headers: { HTTP_X_TIMESTAMP: TIMESTAMP } });
    expect(codesOf(diagnosis)).toEqual(['timestamp-missing', 'signature-missing']);
    expect(diagnosis.findings[0]?.similarHeaders).toEqual(['HTTP_X_TIMESTAMP']);
  });

  test('of a sender that signs the body alone is told', () => {
    const headers = { 'x-signature': hmac(COMPACT).toString('hex') };
    expectExplained(diagnose({ headers }), 'timestamp-missing', 'signed-body-only');
  });
});

describe('an X-Timestamp that came twice', () => {
  test.each<[string, unknown, ...CallbackFindingCode[]]>([
    ['as a list', [TIMESTAMP, '1'], 'timestamp-repeated'],
    ['as a list, the second one empty', [TIMESTAMP, ''], 'timestamp-repeated'],
    ['as a list, the right one last', ['1', TIMESTAMP], 'timestamp-repeated'],
    ['joined by Node', `${TIMESTAMP}, ${TIMESTAMP}`, 'timestamp-repeated'],
  ])('%s is told', (_name, value, ...codes) => {
    const headers = { 'x-timestamp': value, 'x-signature': sign(COMPACT) };
    expectExplained(diagnose({ headers }), ...codes);
  });
});

test.each([
  ['blanks', ` ${TIMESTAMP}`],
  ['quotes', `"${TIMESTAMP}"`],
])('an X-Timestamp with %s around it is told', (_name, value) => {
  const headers = { 'x-timestamp': value, 'x-signature': sign(COMPACT) };
  expectExplained(diagnose({ headers }), 'timestamp-malformed', 'timestamp-respelled');
});

test('an X-Timestamp that is no time is malformed', () => {
  for (const timestamp of ['yesterday', '17698608.5', '9'.repeat(16), '2026-13-45T99:00:00Z']) {
    const diagnosis = diagnose({ timestamp });
    expect(codesOf(diagnosis)).toEqual(['timestamp-malformed']);
    expect(diagnosis.signature).toBe('right');
  }
});

describe('a signed string that is another one is explained:', () => {
  test.each<[string, string, ...CallbackFindingCode[]]>([
    ['the body alone', COMPACT, 'signed-body-only'],
    ['no full stop', TIMESTAMP + COMPACT, 'signed-without-stop'],
    ['a colon', `${TIMESTAMP}:${COMPACT}`, 'signed-other-separator'],
    ['a comma', `${TIMESTAMP},${COMPACT}`, 'signed-other-separator'],
    ['a line break', `${TIMESTAMP}\n${COMPACT}`, 'signed-other-separator'],
    ['a bar', `${TIMESTAMP}|${COMPACT}`, 'signed-other-separator'],
    ['the body first', `${COMPACT}.${TIMESTAMP}`, 'signed-body-first'],
    [
      'the body first, without full stop',
      COMPACT + TIMESTAMP,
      'signed-without-stop',
      'signed-body-first',
    ],
    [
      'milliseconds and a colon',
      `${MILLISECONDS}:${COMPACT}`,
      'signed-other-separator',
      'timestamp-respelled',
    ],
  ])('%s', (_name, text, ...codes) => {
    const diagnosis = diagnose({ signature: hmac(text).toString('hex') });
    expect([...codesOf(diagnosis)].sort()).toEqual([...codes].sort());
    expect(diagnosis.signature).toBe('explained');
  });

  test('naming the separator', () => {
    const signature = hmac(`${TIMESTAMP}|${COMPACT}`).toString('hex');
    expect(diagnose({ signature }).findings[0]?.message).toContain('with "|" between');
  });
});
