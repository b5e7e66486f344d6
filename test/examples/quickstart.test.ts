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
    /authentic: order-1001 is now "paid"/,
    /answered 200: processed/,
    /answered 401: rejected, SIGNATURE_MISMATCH/,
    /authentic: order-1001 is now "refunded"/,
    /answered 401: rejected, TIMESTAMP_OUTSIDE_WINDOW/,
    /authentic: order-1001 is now "disputed"/,
    /failed: our database is down/,
    /answered 500: failed/,
    /authentic: order-1001 is now "paid"/,
    /answered 200: duplicate/,
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
