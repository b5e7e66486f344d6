import { EventEmitter } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import { runCommandLine } from '../../src/cli/command-line.js';
import { watchOutput } from './watch-output.js';

type Environment = Readonly<Record<string, string>>;
type Signal = 'SIGINT' | 'SIGTERM';

/** What a command is started with. Nothing of this process's environment is in it. */
export interface Surroundings {
  readonly env?: Environment;
  /** The whole of standard input. On a terminal it stays open. */
  readonly input?: string | Uint8Array;
  /** @default the project's folder */
  readonly cwd?: string;
  /** The width of the terminal that it is started on. Without it, its streams are pipes. */
  readonly columns?: number;
}

/** How a command ended, and what it printed. */
export interface Ended {
  readonly code: number | null;
  /** The signal that ended it, since it listened to none. */
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs. */
export interface RunningCommand extends AsyncDisposable {
  /** What it has printed so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** Settles with what the pattern caught, when the output matches; fails when it ends before. */
  printed(pattern: RegExp, on?: 'stdout' | 'stderr'): Promise<RegExpExecArray>;
  /** Sends it a signal. */
  kill(signal: Signal): void;
  /** Settles when it has ended. */
  readonly ended: Promise<Ended>;
}

/** A command that runs in this process. */
export interface CommandHere extends RunningCommand {
  /** Types on its terminal. */
  type(text: string): void;
  readonly ended: Promise<Ended & { readonly bytes: Buffer }>;
}

/** Starts a command in this process, by the function that the program calls. */
export function startCommand(
  args: readonly string[],
  { env = {}, input = '', cwd = process.cwd(), columns }: Surroundings = {},
): CommandHere {
  const watcher = watchOutput();
  const bytes: Buffer[] = [];
  const isTTY = columns !== undefined;
  const createOutput = (name: 'stdout' | 'stderr') => {
    const stream = new Writable({
      write(chunk, _encoding, written) {
        if (name === 'stdout') bytes.push(chunk);
        watcher.add(name, chunk.toString());
        written();
      },
    });
    const hasColors = () => WriteStream.prototype.getColorDepth.call(stream as never, env) > 1;
    return Object.assign(stream, { isTTY, columns, hasColors }) as unknown as NodeJS.WriteStream;
  };
  const stdin = Object.assign(new PassThrough(), { isTTY });
  if (isTTY) stdin.write(input);
  else stdin.end(input);
  const stdout = createOutput('stdout');
  const signals = new EventEmitter();
  let stop = (_code: number | null, _signal: NodeJS.Signals | null): void => undefined;
  const stopped = new Promise<Ended>((resolve) => {
    stop = (code, signal) => resolve(watcher.end(code, signal));
  });
  const run = runCommandLine(args, {
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout,
    stderr: createOutput('stderr'),
    env,
    cwd,
    signals,
  });
  void run.then((code) => stop(code, null));
  return {
    ...watcher,
    ended: stopped.then((ended) => ({ ...ended, bytes: Buffer.concat(bytes) })),
    type: (text) => void stdin.write(text),
    kill(signal) {
      if (!signals.emit(signal)) stop(null, signal);
    },
    async [Symbol.asyncDispose]() {
      // As when the reader of its output leaves.
      if (!watcher.hasEnded()) stdout.emit('error', new Error('EPIPE'));
      await stopped;
    },
  };
}

/** Runs a command to its end. */
export const runCommand = (
  args: readonly string[],
  env: Environment = {},
  input: string | Uint8Array = '',
): CommandHere['ended'] => startCommand(args, { env, input }).ended;

/** A mock that the command line runs, on a free port. */
export interface RunningMock extends RunningCommand {
  readonly url: string;
  /** Runs a command on it: its end. */
  run(...args: readonly string[]): Promise<Ended>;
  /** Runs a command on it that must succeed: the JSON that it prints. */
  json(...args: readonly string[]): Promise<unknown>;
}

/** Starts `merchant-payments mock` on a free port, and waits until it listens. */
export const startMock = (...args: readonly string[]): Promise<RunningMock> =>
  toMock(startCommand(['mock', '--port', '0', ...args]));

/** Waits until a `mock` listens. */
export async function toMock<Command extends RunningCommand>(
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
  const response = await fetch(`${url}/_mock/api/payments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ merchantPaymentReference: reference, amount: 5, currency: 'EUR' }),
  });
  return (await response.json()) as CreatedPayment;
}
