import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { runCommandLine } from '../../src/cli/command-line.js';

/** The command line of the sources, or the one that the suite of the packed package installed. */
export const BIN =
  process.env['COMMAND_LINE'] ?? path.join(process.env['TEST_PROGRAMS'] ?? '', 'command-line.js');

type Environment = Readonly<Record<string, string>>;

/** How a command ended, and what it printed. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs. */
export interface RunningCommand extends AsyncDisposable {
  /** What it has printed on standard output, and on standard error. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** Settles with what the pattern caught, when the output matches; fails when it ends before. */
  printed(pattern: RegExp, on?: 'stdout' | 'stderr'): Promise<RegExpExecArray>;
  /** Settles when it has ended and its output is read. */
  readonly ended: Promise<Ended>;
}

/** A command that runs in its own process. */
export interface CommandProcess extends RunningCommand {
  readonly child: ChildProcess;
}

/** Starts the built command line. Of this process's environment it gets the path alone. */
export function startCommand(args: readonly string[], env: Environment = {}): CommandProcess {
  return watch(
    spawn(process.execPath, [BIN, ...args], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/**
 * Runs the command line to its end, in this process, where it costs no start of a process. The suite
 * of the packed package runs the installed command instead.
 */
export async function runCommand(
  args: readonly string[],
  env: Environment = {},
  input: string | Uint8Array = '',
): Promise<Ended & { readonly bytes: Buffer }> {
  const command = process.env['COMMAND_LINE'] ? runInProcessOfItsOwn : runInThisProcess;
  const { code, signal, output, errors } = await command(args, env, input);
  const bytes = Buffer.concat(output);
  return {
    code,
    signal,
    bytes,
    stdout: bytes.toString(),
    stderr: Buffer.concat(errors).toString(),
  };
}

interface Collected {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: readonly Buffer[];
  readonly errors: readonly Buffer[];
}

async function runInThisProcess(
  args: readonly string[],
  env: Environment,
  input: string | Uint8Array,
): Promise<Collected> {
  const [output, errors]: [Buffer[], Buffer[]] = [[], []];
  const code = await runCommandLine(args, {
    stdin: Readable.from([Buffer.from(input)]) as NodeJS.ReadStream,
    stdout: collectInto(output),
    stderr: collectInto(errors),
    env,
  });
  return { code, signal: null, output, errors };
}

// As the streams of a process that is not on a terminal.
function collectInto(chunks: { push(chunk: Buffer): unknown }): NodeJS.WriteStream {
  const stream = new Writable({
    write(chunk, _encoding, written) {
      chunks.push(chunk);
      written();
    },
  });
  return Object.assign(stream, { isTTY: false }) as unknown as NodeJS.WriteStream;
}

async function runInProcessOfItsOwn(
  args: readonly string[],
  env: Environment,
  input: string | Uint8Array,
): Promise<Collected> {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const [output, errors]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  // A command that refuses its arguments does not read.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code, signal] = await once(child, 'close');
  return { code, signal, output, errors };
}

/** Runs a line of a POSIX shell in which `merchant-payments` is the command line. */
export function runShell(line: string, env: Environment = {}): Promise<Ended> {
  const script = `merchant-payments() { '${process.execPath}' '${BIN}' "$@"; }\n${line}`;
  return watch(
    spawn('bash', ['-c', script], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  ).ended;
}

/** How a shell on a terminal calls the command line. */
export const shellCall = `'${process.execPath}' '${BIN}'`;

function watch(child: ChildProcess): CommandProcess {
  const watcher = watchOutput();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => watcher.add(name, text));
  }
  const ended = once(child, 'close').then(([code, signal]) => watcher.end(code, signal));
  return {
    child,
    ...watcher,
    ended,
    async [Symbol.asyncDispose]() {
      if (!watcher.hasEnded()) child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Collects what a command prints. */
function watchOutput() {
  const output = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  let hasEnded = false;
  const notify = () => {
    for (const watcher of watchers) watcher();
  };
  return {
    output,
    hasEnded: () => hasEnded,
    add(name: 'stdout' | 'stderr', text: string) {
      output[name] += text;
      notify();
    },
    end(code: number | null, signal: NodeJS.Signals | null): Ended {
      hasEnded = true;
      notify();
      return { code, signal, ...output };
    },
    printed: (pattern: RegExp, on: 'stdout' | 'stderr' = 'stdout') =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const check = () => {
          const found = pattern.exec(output[on]);
          if (found !== null) resolve(found);
          else if (hasEnded) reject(new Error(`It ended without ${pattern}:\n${output.stderr}`));
          else return;
          watchers.delete(check);
        };
        watchers.add(check);
        check();
      }),
  };
}

/** A mock that the command line runs, on a free port. */
export interface RunningMock extends RunningCommand {
  readonly url: string;
  /** Runs a command on it: its end. */
  run(...args: readonly string[]): Promise<Ended>;
  /** Runs a command on it that must succeed: the JSON that it prints. */
  json(...args: readonly string[]): Promise<unknown>;
}

/**
 * Starts `merchant-payments mock` on a free port and waits until it listens: in this process, but for
 * the suite of the packed package.
 */
export function startMock(...args: readonly string[]): Promise<RunningMock> {
  return process.env['COMMAND_LINE']
    ? startMockProcess(...args)
    : toMock(startHere(['mock', '--port', '0', ...args]));
}

/** The same in its own process, for tests of signals and pipes. */
export function startMockProcess(
  ...args: readonly string[]
): Promise<RunningMock & CommandProcess> {
  return toMock(startCommand(['mock', '--port', '0', ...args]));
}

/** Starts a command that runs until it is stopped, in this process. */
export function startHere(args: readonly string[], env: Environment = {}): RunningCommand {
  const watcher = watchOutput();
  const stream = (name: 'stdout' | 'stderr') =>
    collectInto({ push: (chunk) => watcher.add(name, chunk.toString()) });
  const stdout = stream('stdout');
  const ended = runCommandLine(args, {
    stdin: Readable.from([]) as NodeJS.ReadStream,
    stdout,
    stderr: stream('stderr'),
    env,
  }).then((code) => watcher.end(code, null));
  return {
    ...watcher,
    ended,
    async [Symbol.asyncDispose]() {
      // As when the reader of its output leaves.
      if (!watcher.hasEnded()) stdout.emit('error', new Error('EPIPE'));
      await ended;
    },
  };
}

async function toMock<Command extends RunningCommand>(
  command: Command,
): Promise<Command & RunningMock> {
  // Up to the end of what it prints when it has begun.
  const [text] = await command.printed(/^\{"type":"listening".*\}\n|[\s\S]*Ctrl-C to stop\.\n/);
  const [url = ''] = /http:\/\/[^/"\s]+/.exec(text) ?? [];
  const run = (...words: readonly string[]) =>
    runCommand(words, { MERCHANT_PAYMENTS_MOCK_URL: url });
  return {
    ...command,
    url,
    run,
    async json(...words: readonly string[]) {
      const { code, stdout, stderr } = await run(...words, '--json');
      if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
  };
}

/** The lines of JSON that `mock --json` has printed. */
export function readEvents({ output }: RunningCommand): Record<string, unknown>[] {
  return output.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** A payment as the control interface answers it. */
export interface CreatedPayment {
  readonly referenceNumber: string;
  readonly status: string;
}

/** Creates a payment in a mock, without the command line. */
export async function createPayment(
  { url }: Pick<RunningMock, 'url'>,
  reference: string,
): Promise<CreatedPayment> {
  const response = await fetch(`${url}/_mock/payments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ merchantPaymentReference: reference, amount: 5, currency: 'EUR' }),
  });
  return (await response.json()) as CreatedPayment;
}
