import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { checkQuickstart } from '../runtimes/quickstart-output.js';
import { bundled } from './example-process.js';

test('the quickstart runs to its end and shows every step', async () => {
  const ended = await promisify(execFile)(process.execPath, [bundled('quickstart.ts')]);
  const results = checkQuickstart({ ...ended, code: 0 });
  expect(results.filter(({ failure }) => failure !== undefined)).toEqual([]);
  expect(ended.stdout.match(/ships order-/g)).toHaveLength(3);
});
