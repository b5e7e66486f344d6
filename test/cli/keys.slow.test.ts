import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shellCall } from './command-process.js';

/** A mock on a new terminal, which `script` makes. */
function startOnTerminal(line: string, programs = '') {
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    env: { PATH: `${programs}:${process.env['PATH']}`, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  return {
    press: (key: string) => void child.stdin.write(key),
    ended: once(child, 'close'),
    async shows(text: string): Promise<string> {
      while (!output.includes(text)) await once(child.stdout, 'data');
      const shown = output;
      output = output.slice(output.indexOf(text) + text.length);
      return shown;
    },
  };
}

test('o opens the dashboard, and no other key does anything', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'keys-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  // In place of the program that opens the browser.
  const opened = path.join(folder, 'opened');
  await writeFile(path.join(folder, 'xdg-open'), `#!/bin/sh\necho "$1" > ${opened}\n`, {
    mode: 0o755,
  });
  const mock = startOnTerminal(`${shellCall} mock --port 0`, folder);
  const url = /dashboard +(\S+)/.exec(await mock.shows('Press o to'))?.[1] ?? '';
  mock.press('xrdq');
  mock.press('o');
  await expect.poll(() => readFile(opened, 'utf8').catch(() => '')).toBe(`${url}\n`);
  mock.press('\u0003');
  expect(await mock.ended).toEqual([0, null]);
});

test('a mock in the background of a terminal reads no keys, which would stop it', async () => {
  // Job control, as in the shell of a person.
  const line = `bash -mc '${shellCall.replaceAll("'", '')} mock --port 0 & read; kill $!; wait $!; echo ended $?'`;
  const mock = startOnTerminal(line);
  await mock.shows('Ctrl-C to stop.');
  mock.press('q\n');
  await mock.shows('ended 0');
});
