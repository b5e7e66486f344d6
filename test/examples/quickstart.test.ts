import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('the quickstart runs to its end and shows every step', { timeout: 60_000 }, async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--import',
    'tsx',
    'examples/quickstart.ts',
  ]);
  expect(stderr).toBe('');
  const happened = [
    /201: payment [0-9a-f-]{36}, status "created"/,
    /authentic: order-1001 is now "paid", 200/,
    /refused with SIGNATURE_MISMATCH, 401/,
    /authentic: order-1001 is now "refunded", 200/,
    /refused with TIMESTAMP_OUTSIDE_WINDOW, 401/,
    /authentic: order-1001 is now "disputed", 200/,
    /our database is down: 500/,
    /authentic: order-1001 is now "paid", 200/,
    /a duplicate of [\w-]{8}…: nothing to do, 200/,
    /paid {6}attempt 1: refused, 500/,
    /paid {6}attempt 2: acknowledged, 200/,
    /The order book: order-1001 is "paid"/,
  ];
  let rest = stdout;
  for (const line of happened) {
    expect(rest).toMatch(line);
    rest = rest.slice((rest.match(line)?.index ?? 0) + 1);
  }
});
