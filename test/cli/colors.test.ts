import { WriteStream } from 'node:tty';
import { expect, test } from 'vitest';
import { createPaint } from '../../src/cli/terminal.js';
import { runCommand } from './run-command.js';

type Environment = Readonly<Record<string, string>>;

/** A stream with the colours that Node would give it. */
function streamOf(isTTY: boolean): NodeJS.WriteStream {
  const { hasColors, getColorDepth } = WriteStream.prototype;
  return { ...(isTTY && { isTTY, hasColors, getColorDepth }) } as unknown as NodeJS.WriteStream;
}

// As in Node: FORCE_COLOR decides, then NO_COLOR and TERM=dumb, then whether it is a terminal and what kind of one.
test.each<[isTTY: boolean, env: Environment, isColoured: boolean]>([
  [true, { TERM: 'xterm-256color' }, true],
  [true, { TERM: 'xterm', NO_COLOR: '1' }, false],
  [true, { TERM: 'dumb' }, false],
  [true, { TERM: 'xterm', CI: 'true' }, false],
  [true, { TERM: 'xterm', CI: 'true', GITHUB_ACTIONS: 'true' }, true],
  [true, { TERM: 'xterm', FORCE_COLOR: '0' }, false],
  [true, { TERM: 'dumb', FORCE_COLOR: '1' }, true],
  [false, {}, false],
  [false, { CI: 'true', GITHUB_ACTIONS: 'true' }, false],
  [false, { NO_COLOR: '1' }, false],
  [false, { FORCE_COLOR: '1' }, true],
])('colours on a terminal (%j) with %j: %j', (isTTY, env, isColoured) => {
  const paint = createPaint(streamOf(isTTY), env);
  expect(paint('red', 'a')).toBe(isColoured ? '\u001b[31ma\u001b[39m' : 'a');
});

test('a command in a pipe has colours with FORCE_COLOR, and none without', async () => {
  const args = ['callback', 'send', 'http://127.0.0.1:1/', '--signing-secret', 'a secret'];
  expect((await runCommand(args)).stdout).not.toContain('\u001b[');
  expect((await runCommand(args, { FORCE_COLOR: '1' })).stdout).toContain('\u001b[');
});
