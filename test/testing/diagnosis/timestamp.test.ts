import { describe, expect, test } from 'vitest';
import {
  COMPACT,
  codesOf,
  diagnose,
  expectExplained,
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
      signature: 'right',
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

  test('is found beside a signature that is wrong', () => {
    const diagnosis = diagnose({ timestamp: MILLISECONDS, key: 'other' });
    expect(codesOf(diagnosis)).toEqual(['timestamp-unit', 'secret-other']);
  });

  test('is found beside what else explains the signature', () => {
    const diagnosis = diagnose({ timestamp: MILLISECONDS, rawBody: `${COMPACT}\n` });
    expectExplained(diagnosis, 'timestamp-unit', 'body-reserialized');
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
    expect(diagnosis).toMatchObject({ signature: 'right', payment: sampleRecord() });
    expect(diagnosis.findings[0]?.skewSeconds).toBe(skewSeconds);
    expect(diagnosis.findings[0]?.message).toContain(
      skewSeconds > 0 ? '301 s behind the clock' : '301 s ahead of the clock',
    );
  });

  test('is found beside what else is wrong', () => {
    const diagnosis = diagnose({
      timestamp: String(NOW_SECONDS - 400),
      rawBody: JSON.stringify(sampleRecord(), null, 2),
    });
    expectExplained(diagnosis, 'timestamp-outside-window', 'body-reserialized');
  });

  test('is found beside a signature that nothing explains', () => {
    const diagnosis = diagnose({ timestamp: '1000', key: 'other' });
    expect(codesOf(diagnosis)).toEqual(['timestamp-outside-window', 'secret-other']);
    expect(diagnosis).not.toHaveProperty('payment');
  });

  test('of a clock that returns no number is found', () => {
    const diagnosis = diagnose({ options: { now: () => Number.NaN } });
    expect(codesOf(diagnosis)).toEqual(['timestamp-outside-window']);
    expect(diagnosis.findings[0]).not.toHaveProperty('skewSeconds');
    expect(diagnosis.findings[0]?.message).toContain('the clock returned no number');
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

  test('is found', () => {
    const diagnosis = diagnose({ headers: { 'x-signature': signature } });
    expect(diagnosis.error?.code).toBe('MISSING_TIMESTAMP');
    expect(diagnosis.signature).toBe('unexplained');
    expect(codesOf(diagnosis)).toEqual(['timestamp-missing']);
    expect(diagnosis.findings[0]?.similarHeaders).toEqual([]);
  });

  test.each(['x_timestamp', 'Timestamp', 'HTTP_X_TIMESTAMP', 'x-request-timestamp'])(
    'is looked for in %s',
    (name) => {
      const diagnosis = diagnose({ headers: { [name]: TIMESTAMP, 'x-signature': signature } });
      expectExplained(diagnosis, 'timestamp-missing');
      expect(diagnosis.findings[0]).toMatchObject({
        message: `X-Timestamp is missing. Received with a similar name: ${name}.`,
        similarHeaders: [name],
      });
    },
  );

  test('is found beside a missing signature', () => {
    const diagnosis = diagnose({ headers: { HTTP_X_TIMESTAMP: TIMESTAMP } });
    expect(codesOf(diagnosis)).toEqual(['timestamp-missing', 'signature-missing']);
    expect(diagnosis.findings[0]?.similarHeaders).toEqual(['HTTP_X_TIMESTAMP']);
  });
});

test.each<[string, unknown]>([
  ['as a list', [TIMESTAMP, '1']],
  ['as a list, the second one empty', [TIMESTAMP, '']],
  ['joined by Node', `${TIMESTAMP}, ${TIMESTAMP}`],
])(
  'an X-Timestamp with more than one value is malformed, and tried by its first: %s',
  (_name, value) => {
    const headers = { 'x-timestamp': value, 'x-signature': sign(COMPACT) };
    const diagnosis = diagnose({ headers });
    expect(diagnosis.error?.code).toBe('INVALID_TIMESTAMP');
    expectExplained(diagnosis, 'timestamp-malformed');
    expect(diagnosis.findings[0]?.message).toBe('X-Timestamp has more than one value.');
  },
);

test.each([
  'yesterday',
  '17698608.5',
  '9'.repeat(16),
  ` ${TIMESTAMP}`,
  `"${TIMESTAMP}"`,
  new Date(NOW_SECONDS * 1000).toISOString(),
])('an X-Timestamp of %j is malformed, though it may have been signed', (timestamp) => {
  const diagnosis = diagnose({ timestamp });
  expect(codesOf(diagnosis)).toEqual(['timestamp-malformed']);
  expect(diagnosis.signature).toBe('right');
  expect(diagnosis.findings[0]?.message).toContain(`it has ${timestamp.length} characters`);
  expect(diagnosis.findings[0]?.remedy).toContain('Unix seconds, digits only');
});
