import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Ended, RunningCommand } from './run-command.js';
import { watchOutput } from './watch-output.js';

type Environment = Readonly<Record<string, string>>;

/** The program, made of the sources. */
export const PROGRAM = path.join(process.env['TEST_PROGRAMS'] ?? '', 'command-line.js');

/** How a shell calls the program. */
export const shellCall = `'${process.execPath}' '${PROGRAM}'`;

/** Starts the program. Of this process's environment it gets the path alone. */
export const startProcess = (args: readonly string[], env: Environment = {}): RunningCommand =>
  watch(process.execPath, [PROGRAM, ...args], env);

/** Runs a line of a POSIX shell in which `merchant-payments` is the program. */
export const runShell = (line: string, env: Environment = {}): Promise<Ended> =>
  watch('bash', ['-c', `merchant-payments() { ${shellCall} "$@"; }\n${line}`], env).ended;

function watch(command: string, args: readonly string[], env: Environment): RunningCommand {
  const child: ChildProcess = spawn(command, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const watcher = watchOutput();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => watcher.add(name, text));
  }
  const ended = once(child, 'close').then(([code, signal]) => watcher.end(code, signal));
  return {
    ...watcher,
    ended,
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      if (!watcher.hasEnded()) child.kill('SIGTERM');
      await ended;
    },
  };
}
