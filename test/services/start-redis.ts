import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, startProgram, type ThrowawayServer } from './throwaway-server.js';

/** Whether the Redis server is installed. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

export interface RedisOptions {
  /**
   * Whether it writes each command to its append-only file before it answers, and so has it again
   * after a restart.
   * @default false
   */
  appendonly?: boolean;
  /** More settings, as its command line takes them. */
  settings?: readonly string[];
}

/** Starts a Redis server of the tests' own. */
export async function startRedis({
  appendonly = false,
  settings = [],
}: RedisOptions = {}): Promise<ThrowawayServer> {
  if (!hasRedis) throw new Error('Redis is not installed: PATH has no redis-server');
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'test-redis-'));
  const args = [
    ['--port', String(port)],
    ['--bind', '127.0.0.1'],
    ['--dir', folder],
    ['--save', ''],
    ['--appendonly', appendonly ? 'yes' : 'no'],
    ['--appendfsync', 'always'],
  ].flat();
  return startProgram(`redis://127.0.0.1:${port}`, {
    command: 'redis-server',
    args: [...args, ...settings],
    folder,
    says: ['stdout', 'Ready to accept connections'],
  });
}
