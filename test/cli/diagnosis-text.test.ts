import { expect, test } from 'vitest';
import { describeDiagnosis } from '../../src/cli/commands/callback-verify.js';
import { diagnoseCallback, signCallback } from '../../src/testing/index.js';

const layout = { width: 80, paint: (_style: string, text: string) => text };
const signingSecret = 'test-signing-secret';
const payment = {
  referenceNumber: '0b7f3f4e-1111-4222-8333-444455556666',
  merchantPaymentReference: 'order-1\u001b[2J',
  status: 'paid',
  updatedAt: '2026-01-31T12:00:00+00:00',
};
const now = () => 1_769_860_800_000;
const signed = signCallback({ payment, signingSecret, timestamp: 1_769_860_800 });

test('a verified callback: the verdict and the record, escaped', () => {
  expect(describeDiagnosis(diagnoseCallback(signed, { signingSecret, now }), layout)).toEqual([
    'verified: the callback is authentic, fresh, and a status record',
    '  signature  matches this callback',
    '  status     paid',
    '  reference  order-1\\x1b[2J',
    '  number     0b7f3f4e-1111-4222-8333-444455556666',
    '  updated    2026-01-31T12:00:00+00:00',
  ]);
});

test('with several signing secrets, the text names the one that matched', () => {
  const diagnosis = diagnoseCallback(signed, { signingSecret: ['another', signingSecret], now });
  expect(describeDiagnosis(diagnosis, layout)).toContain(
    '  signature  matches this callback, with signing secret 2',
  );
});

test('an authentic callback that is refused: the record with a warning, what was seen, what to do', () => {
  const late = diagnoseCallback(signed, { signingSecret, now: () => now() + 301_000 });
  const lines = describeDiagnosis(late, layout);
  expect(lines[0]).toBe('refused with TIMESTAMP_OUTSIDE_WINDOW');
  expect(lines.join('\n')).toContain('paid (authentic, but refused: look at it, do not act on it)');
  const start = lines.indexOf('timestamp-outside-window');
  expect(lines[start + 1]).toMatch(/^ {2}seen {2}X-Timestamp is 301 s behind/);
  expect(lines.slice(start).some((line) => line.startsWith('  fix   '))).toBe(true);
});

test('an unexplained signature', () => {
  const lines = describeDiagnosis(
    diagnoseCallback(signed, { signingSecret: 'other', now }),
    layout,
  );
  expect(lines).toContain('  signature  does not match, and nothing that was tried explains it');
  for (const line of lines) expect([...line].length, line).toBeLessThanOrEqual(80);
});
