import { describe, expect, test } from 'vitest';
import {
  COMPACT,
  codesOf,
  diagnose,
  NOW_SECONDS,
  now,
  sampleRecord,
  sign,
  TIMESTAMP,
} from './scene.js';

const MILLISECONDS = `${NOW_SECONDS}000`;

describe('the unit', () => {
  test('of milliseconds is found, with the option to set', () => {
    const diagnosis = diagnose({ timestamp: MILLISECONDS });
    expect(diagnosis).toMatchObject({
      verified: false,
      secretIndex: 0,
      payment: sampleRecord(),
      error: { code: 'INVALID_TIMESTAMP' },
    });
    expect(codesOf(diagnosis)).toEqual(['timestamp-unit']);
    expect(diagnosis.findings[0]?.remedy).toContain("timestampUnit: 'milliseconds'");
  });

  test('of seconds is found where milliseconds are expected', () => {
    const diagnosis = diagnose({ options: { timestampUnit: 'milliseconds' } });
    expect(codesOf(diagnosis)).toEqual(['timestamp-unit']);
    expect(diagnosis.findings[0]?.remedy).toContain("timestampUnit: 'seconds'");
  });

  test('is found beside a distance from the clock', () => {
    const timestamp = String((NOW_SECONDS - 400) * 1000);
    expect(codesOf(diagnose({ timestamp }))).toEqual([
      'timestamp-unit',
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
    expect(diagnosis).toMatchObject({ secretIndex: 0, payment: sampleRecord() });
    expect(diagnosis.findings[0]?.skewSeconds).toBe(skewSeconds);
    const { message, remedy } = diagnosis.findings[0] ?? {};
    expect(message).toContain(skewSeconds > 0 ? '301 s behind' : '301 s ahead of');
    expect(remedy).toContain(skewSeconds > 0 ? 'make now return' : "this machine's clock");
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
});

test('a missing X-Timestamp is found', () => {
  const headers = { 'x-signature': sign(COMPACT), HTTP_X_TIMESTAMP: TIMESTAMP };
  const diagnosis = diagnose({ headers });
  expect(diagnosis.error?.code).toBe('MISSING_TIMESTAMP');
  expect(diagnosis).not.toHaveProperty('secretIndex');
  expect(codesOf(diagnosis)).toEqual(['timestamp-missing']);
  expect(diagnosis.findings[0]?.remedy).toContain('dropped or renamed X-Timestamp');
});

test.each([
  'yesterday',
  '9'.repeat(16),
  new Date(NOW_SECONDS * 1000).toISOString(),
  `${TIMESTAMP}, ${TIMESTAMP}`,
])('an X-Timestamp of %j is malformed', (timestamp) => {
  const diagnosis = diagnose({ timestamp });
  expect(codesOf(diagnosis)).toEqual(['timestamp-malformed']);
  expect(diagnosis.findings[0]?.message).toContain(`received ${timestamp.length} characters`);
  expect(diagnosis.findings[0]?.remedy).toContain('Unix seconds in digits only');
});

test('an X-Timestamp that was sent twice is malformed', () => {
  const headers = { 'x-timestamp': [TIMESTAMP, '1'], 'x-signature': sign(COMPACT) };
  const diagnosis = diagnose({ headers });
  expect(codesOf(diagnosis)).toEqual(['timestamp-malformed']);
  expect(diagnosis.findings[0]?.message).toContain('received it more than once');
});
