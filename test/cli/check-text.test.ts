import { expect, test } from 'vitest';
import { describeReport } from '../../src/cli/check-report.js';
import { createReport, failed, passed, skipped } from './sample-report.js';

const asIs = (_style: string, text: string) => text;
const report = createReport(passed, failed, skipped, { ...skipped, id: 'duplicate-effect' });

test('a report of checks: what failed, what to do, with a line to paste; what was skipped; totals', () => {
  const text = describeReport(
    createReport(
      passed,
      { ...failed, detail: 'seen', title: 'T', remedy: 'Verify.', paste: 'verify();' },
      skipped,
    ),
    {
      width: 80,
      paint: asIs,
    },
  ).join('\n');
  expect(text).toBe(
    [
      'Checks of http://127.0.0.1:3000/callbacks?x=<y>',
      '',
      'FAIL  wrong-secret: T',
      '  seen  seen',
      '  fix   Verify.',
      "  look  in the endpoint's log for 0b7f3f4e-1111-4222-8333-444455556666",
      '  paste verify();',
      '',
      'skipped: valid-effect',
      '  why   not tried: it needs a probe',
      '',
      '1 passed, 1 failed, 1 skipped',
    ].join('\n'),
  );
});

test.each([40, 60, 80])('no line is wider than %i characters', (width) => {
  for (const line of describeReport(report, { width, paint: asIs })) {
    // An identifier is never cut.
    const isOneWord = !line.trim().includes(' ') || /^ {2}look /.test(line);
    if (!isOneWord) expect([...line].length, line).toBeLessThanOrEqual(width);
  }
});

test('a reason to skip is printed once, with every check it applies to', () => {
  const lines = describeReport(report, { width: 80, paint: asIs });
  expect(lines).toContain('skipped: valid-effect, duplicate-effect');
  expect(lines.filter((line) => line.includes('it needs a probe'))).toHaveLength(1);
});

test('an answer cannot control the terminal', () => {
  const text = describeReport(report, { width: 80, paint: asIs }).join('\n');
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
  expect(text).toContain('\\x1b[31m');
  expect(text).toContain('\\u202e');
});

test('the cause comes first, with what the endpoint said', () => {
  const cause = { ...failed, id: 'available', title: 'C', answer: 'no\u001b more' } as const;
  const { checks, ...rest } = createReport({ ...failed, title: 'T' }, cause);
  const text = describeReport({ ...rest, checks, cause: 'available' }, { width: 80, paint: asIs });
  expect(text.indexOf('FAIL  available: C')).toBeLessThan(text.indexOf('FAIL  wrong-secret: T'));
  expect(text).toContain('  said  no\\x1b more');
});
