import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cleanUpAtExit, findFreePort, type ThrowawayServer } from './throwaway-server.js';

/** Whether the Redis server is installed. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

export interface RedisOptions {
  /**
   * Whether it writes each command to its append-only file before it answers, and so has it again
   * after a restart.
   * @default false
   */
  appendonly?: boolean;
}

/** Starts a Redis server of the tests' own. */
export async function startRedis({
  appendonly = false,
}: RedisOptions = {}): Promise<ThrowawayServer> {
  if (!hasRedis) throw new Error('Redis is not installed: PATH has no redis-server');
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'test-redis-'));
  const settings = [
    ['--port', String(port)],
    ['--bind', '127.0.0.1'],
    ['--dir', folder],
    ['--save', ''],
    ['--appendonly', appendonly ? 'yes' : 'no'],
    ['--appendfsync', 'always'],
  ].flat();

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
    server = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'inherit'] });
    await isReady(server);
  };

  const forget = cleanUpAtExit(() => {
    server?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const stop = async (): Promise<void> => {
    await end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
    forget();
  };

  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM');
      await start();
    },
    stop,
  };
}

async function isReady({ stdout }: ChildProcess): Promise<void> {
  if (stdout === null) throw new Error('Redis has no output to read');
  const said: string[] = [];
  const lines = createInterface(stdout);
  for await (const line of lines) {
    said.push(line);
    if (line.includes('Ready to accept connections')) break;
  }
  const ended = stdout.readableEnded;
  // What it says from now on is not kept, and must not fill the pipe.
  stdout.resume();
  if (ended) throw new Error(`Redis did not start. It said:\n${said.join('\n')}`);
}
