import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bundled } from './example-process.js';

test('the quickstart runs to its end and shows every step', { timeout: 60_000 }, async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    bundled('quickstart.ts'),
  ]);
  expect(stderr).toBe('');
  const happened = [
    /201: [0-9a-f-]{36}, status "created"/,
    /ships order-1001/,
    /order-1001 is "paid"/,
    /answered 200: processed/,
    /answered 401: rejected, SIGNATURE_MISMATCH/,
    /order-1001 is "refunded"/,
    /answered 401: rejected, TIMESTAMP_OUTSIDE_WINDOW/,
    /order-1001 is "disputed"/,
    /failed: our database is down/,
    /answered 500: failed/,
    /order-1001 is "paid"/,
    /answered 200: duplicate/,
    /answered 503: busy/,
    /ships order-1002/,
    /order-1003 is "settled"/,
    /ships order-1003/,
    /order-1003 is "settled", as before/,
    /paid {6}attempt 1: refused, 500/,
    /paid {6}attempt 2: acknowledged, 200/,
    /order-1001: "paid", shipped/,
    /order-1002: "paid", shipped/,
    /order-1003: "settled", shipped/,
  ];
  expect(stdout.match(/ships order-/g)).toHaveLength(3);
  let rest = stdout;
  for (const line of happened) {
    expect(rest).toMatch(line);
    rest = rest.slice((rest.match(line)?.index ?? 0) + 1);
  }
});
