import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hasPostgres, startPostgres } from './start-postgres.js';
import { hasRedis, startRedis } from './start-redis.js';

async function ask(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  // A server that is killed ends its connections.
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

async function command(url: string, run: (client: Redis) => Promise<unknown>): Promise<unknown> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => {});
  try {
    await client.connect();
    return await run(client);
  } finally {
    client.disconnect();
  }
}

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'throwaway-servers-'));
  // Postgres may run as another user.
  chmodSync(folder, 0o755);
  vi.stubEnv('TMPDIR', folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.skipIf(!hasPostgres)('a Postgres of the tests’ own', () => {
  it('has what it confirmed again after a crash and a restart', async () => {
    const server = await startPostgres();
    await ask(server.url, 'CREATE TABLE kept AS SELECT 7 AS number');
    expect(readdirSync(folder)).toHaveLength(1);
    await server.kill();
    await expect(ask(server.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await server.restart();
    expect(await ask(server.url, 'SELECT number FROM kept')).toEqual([{ number: 7 }]);
    await server.restart();
    expect(await ask(server.url, 'SELECT number FROM kept')).toEqual([{ number: 7 }]);
    await server.stop();
    await expect(ask(server.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe.skipIf(!hasRedis)('a Redis of the tests’ own', () => {
  it.each([
    ['has what it confirmed again', { appendonly: true }, '7'],
    ['is empty', {}, null],
  ])('%s after a crash and a restart with %o', async (_, options, kept) => {
    const server = await startRedis(options);
    await command(server.url, (client) => client.set('kept', '7'));
    expect(readdirSync(folder)).toHaveLength(1);
    await server.kill();
    await expect(command(server.url, (client) => client.ping())).rejects.toThrow();
    await server.restart();
    expect(await command(server.url, (client) => client.get('kept'))).toBe(kept);
    await server.restart();
    expect(await command(server.url, (client) => client.get('kept'))).toBe(kept);
    await server.stop();
    await expect(command(server.url, (client) => client.ping())).rejects.toThrow();
    expect(readdirSync(folder)).toEqual([]);
  });
});
