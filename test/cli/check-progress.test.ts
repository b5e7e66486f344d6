import { Readable, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.js';
import { startEndpoint } from '../mock-server/merchant-endpoint.js';
import { secretEnv } from './merchant-server.js';

/** A terminal of 50 columns that keeps what is written to it. */
function createTerminal() {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, written) {
      text += chunk;
      written();
    },
  });
  const terminal = Object.assign(stream, { isTTY: true, columns: 50, hasColors: () => false });
  return { stream: terminal as unknown as NodeJS.WriteStream, read: () => text };
}

test('on a terminal progress is one line that is written again, and then what failed and totals', async () => {
  await using endpoint = await startEndpoint(() => 401);
  const [stdout, stderr] = [createTerminal(), createTerminal()];
  const code = await runCommandLine(['check', endpoint.url], {
    stdin: Readable.from([]) as NodeJS.ReadStream,
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: secretEnv,
  });
  expect(code).toBe(1);
  const shown = stderr.read().split('\r\u001b[K');
  expect(shown[1]).toMatch(/^1 checked: skip {2}probe-answers: The probe/);
  expect(shown[3]).toMatch(/^3 checked: FAIL {2}valid-accepted: /);
  expect(shown.at(-1)).toBe('');
  for (const line of shown) {
    expect(line).not.toContain('\n');
    expect(line.length).toBeLessThan(50);
  }
  const report = stdout.read();
  expect(report).not.toMatch(/^(pass|FAIL|skip) {2}/m);
  expect(report).toMatch(/^Checks of\nhttp/);
  expect(report).toMatch(
    /\nvalid-accepted: [\s\S]*\nskipped: \d\d checks\n[\s\S]*1 passed, 1 failed/,
  );
});
