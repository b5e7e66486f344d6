import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { checkQuickstart } from '../runtimes/quickstart-output.js';
import { bundled } from './example-process.js';

test('the quickstart runs to its end and shows every step', async () => {
  // As at a developer's desk: in production memory warns, and another file may have said that it is.
  const { NODE_ENV: _, AWS_LAMBDA_FUNCTION_NAME: __, VERCEL: ___, ...env } = process.env;
  const ended = await promisify(execFile)(process.execPath, [bundled('quickstart.ts')], { env });
  const results = checkQuickstart({ ...ended, code: 0 });
  expect(results.filter(({ failure }) => failure !== undefined)).toEqual([]);
  expect(ended.stdout.match(/ships order-/g)).toHaveLength(3);
});
