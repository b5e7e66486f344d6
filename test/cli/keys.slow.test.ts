import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { startEndpoint } from '../mock-server/merchant-endpoint.js';
import { shellCall } from './command-process.js';
import { createPayment } from './run-command.js';

/** A mock on a new terminal, which `script` makes. */
function startOnTerminal(line: string) {
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'xterm' },
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

test('a key of the terminal ends the mock', async () => {
  const mock = startOnTerminal(`${shellCall} mock --port 0`);
  await mock.shows('Keys: ↑ ↓ select a callback, r resends it, d diagnoses it');
  mock.press('xr');
  await mock.shows('no callback has been sent yet');
  mock.press('q');
  expect(await mock.ended).toEqual([0, null]);
});

test('↑ and ↓ select a callback, r resends it, d says why it was refused', async () => {
  await using endpoint = await startEndpoint((count) => (count === 1 ? 401 : 200));
  const mock = startOnTerminal(
    `${shellCall} mock --port 0 --retry-schedule none --callback-url ${endpoint.url}`,
  );
  const url = /address +(\S+)/.exec(await mock.shows('Keys: '))?.[1] ?? '';
  const pay = async (reference: string) => {
    const { referenceNumber } = await createPayment({ url }, reference);
    await fetch(`${url}/_mock/payments/${referenceNumber}/status`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"status":"paid"}',
    });
  };
  await pay('order-1');
  await pay('order-2');
  await mock.shows('order-2 paid, try 1');
  mock.press('\u001b[A\u001b[A');
  await mock.shows('▸ ← 401 order-1 paid, try 1');
  mock.press('d');
  const diagnosis = await mock.shows('verified: the callback is authentic');
  expect(diagnosis.replaceAll(/\s+/g, ' ')).toContain('The signature or the timestamp was refused');
  mock.press('r');
  await mock.shows('200\u001b[39m order-1 paid, try 1');
  expect(endpoint.received.at(-1)?.rawBody.toString()).toContain('"order-1"');
  // A new line is printed above the selection.
  await mock.shows('▸ ← 401 order-1');
  mock.press('\u001b[B');
  await mock.shows('▸ ← 200 order-2');
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
