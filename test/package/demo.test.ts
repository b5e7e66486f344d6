import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { checkDemo } from '../runtimes/demo-output.js';

test('the demo runs from the tarball alone, in a folder without anything else', async () => {
  const program = process.env['COMMAND_LINE'] ?? '';
  const cwd = process.env['PACKED_TARBALL']?.replace(/[^/\\]+$/, '') ?? '';
  const ended = await promisify(execFile)(program, ['demo'], { cwd });
  const failures = checkDemo({ ...ended, code: 0 }).filter(({ failure }) => failure !== undefined);
  expect(failures).toEqual([]);
});
