import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** A server of the tests' own, on a free port, with its data in a temporary folder. */
export interface ThrowawayServer {
  readonly url: string;
  /** Ends it as a crash does. What it has confirmed is there again after {@link restart}. */
  kill(): Promise<void>;
  /** Starts it on the same port and data, and ends it properly first if it runs. */
  restart(): Promise<void>;
  /** Ends it for good, with its data. Happens by itself when the process ends. */
  stop(): Promise<void>;
}

export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const cleanUps = new Set<() => void>();
let listening = false;

/** Has this called when the process ends, Ctrl+C included. Returns how to take that back. */
export function cleanUpAtExit(cleanUp: () => void): () => void {
  cleanUps.add(cleanUp);
  listen();
  return () => void cleanUps.delete(cleanUp);
}

function listen(): void {
  if (listening) return;
  listening = true;
  process.once('exit', cleanUpAll);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      cleanUpAll();
      // Now without a listener of ours, so that it does what it does by default.
      process.kill(process.pid, signal);
    });
  }
}

function cleanUpAll(): void {
  for (const cleanUp of cleanUps) cleanUp();
  cleanUps.clear();
}

/** A server that stays in the foreground. */
interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Deleted with the server. */
  readonly folder: string;
  /** Where it says that it is ready, and by what. */
  readonly says: readonly ['stdout' | 'stderr', string];
  /** Runs before its first start. */
  prepare?(): Promise<unknown>;
}

/** Starts a server that answers at this URL. */
export async function startProgram(url: string, program: Program): Promise<ThrowawayServer> {
  let server: ChildProcess | undefined;
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const ending = server;
    server = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const exited = once(ending, 'exit');
    ending.kill(signal);
    await exited;
  };
  const start = async (): Promise<void> => {
    const { command, args, says } = program;
    const [output, ready] = says;
    const pipes = (['stdout', 'stderr'] as const).map((one) =>
      one === output ? 'pipe' : 'ignore',
    );
    server = spawn(command, args, { stdio: ['ignore', ...pipes] });
    await isReady(command, server[output] as Readable, ready);
  };
  const remove = () => rmSync(program.folder, { recursive: true, force: true });
  const forget = cleanUpAtExit(() => {
    server?.kill('SIGKILL');
    remove();
  });
  const stop = async (): Promise<void> => {
    await end('SIGTERM');
    remove();
    forget();
  };
  try {
    await program.prepare?.();
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM');
      await start();
    },
    stop,
  };
}

async function isReady(command: string, output: Readable, ready: string): Promise<void> {
  const said: string[] = [];
  for await (const line of createInterface(output)) {
    said.push(line);
    if (line.includes(ready)) break;
  }
  const ended = output.readableEnded;
  // What it says from now on is not kept, and must not fill the pipe.
  output.resume();
  if (ended) throw new Error(`${command} did not start. It said:\n${said.join('\n')}`);
}

/** Whom a server runs as that refuses to run as root. */
export function serverUser(name: string): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}
