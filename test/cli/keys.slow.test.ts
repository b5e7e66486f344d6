import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shellCall } from './command-process.js';
import { createPayment } from './run-command.js';

/** A mock on a new terminal, which `script` makes. */
function startOnTerminal(line: string) {
  const folder = mkdtempSync(path.join(tmpdir(), 'keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // A browser: it asks the mock for a page.
  const browser = path.join(folder, 'xdg-open');
  const page = "process.argv[2].replace('_mock/', 'from-the-browser')";
  writeFileSync(browser, `#!${process.execPath}\nfetch(${page});\n`);
  chmodSync(browser, 0o755);
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    env: { PATH: `${folder}:${process.env['PATH']}`, TERM: 'xterm' },
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

test('keys of the terminal open the dashboard, reset, clear the screen and end the mock', async () => {
  const mock = startOnTerminal(`${shellCall} mock --port 0`);
  const shown = await mock.shows('Keys: o opens the dashboard, r resets');
  const url = /address +(\S+)/.exec(shown)?.[1] ?? '';
  mock.press('o');
  await mock.shows(`opening ${url}/_mock/`);
  await mock.shows('GET /from-the-browser');
  await createPayment({ url }, 'order-1');
  mock.press('xr');
  await mock.shows('everything removed');
  const state = await (await fetch(`${url}/_mock/state`)).json();
  expect(state).toMatchObject({ counts: { payments: 0 } });
  mock.press('c');
  await mock.shows('\u001b[2J');
  mock.press('q');
  expect(await mock.ended).toEqual([0, null]);
});

test('Ctrl-C ends it on a terminal with keys too', async () => {
  const mock = startOnTerminal(`${shellCall} mock --port 0`);
  await mock.shows('Keys: ');
  mock.press('\u0003');
  expect(await mock.ended).toEqual([0, null]);
});

test('a mock in the background of a terminal reads no keys, which would stop it', async () => {
  // Job control, as in the shell of a person.
  const line = `bash -mc '${shellCall.replaceAll("'", '')} mock --port 0 & read; kill $!; wait $!; echo ended $?'`;
  const mock = startOnTerminal(line);
  await mock.shows('Ctrl-C to stop.');
  mock.press('q\n');
  expect(await mock.shows('ended 0')).not.toContain('Keys:');
});
