import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { cleanUpAtExit, findFreePort } from '../services/throwaway-server.js';
import { waitFor } from '../wait-for.js';

/** A Redis server in cluster mode: one node, which owns every slot. */
export interface ClusterServer {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startClusterServer(): Promise<ClusterServer> {
  const [port, busPort] = [await findFreePort(), await findFreePort()];
  const folder = mkdtempSync(join(tmpdir(), 'redis-cluster-'));
  const server = spawn(
    'redis-server',
    [
      ['--port', port],
      ['--bind', '127.0.0.1'],
      ['--dir', folder],
      ['--save', ''],
      ['--cluster-enabled', 'yes'],
      ['--cluster-port', busPort],
      ['--cluster-announce-ip', '127.0.0.1'],
    ].flatMap((option) => option.map(String)),
    { stdio: 'ignore' },
  );
  const stopAtExit = cleanUpAtExit(() => server.kill('SIGKILL'));
  const stopNow = () => stop(server, folder).finally(stopAtExit);
  const url = `redis://127.0.0.1:${port}`;
  try {
    await assignSlots(url);
  } catch (error) {
    await stopNow();
    throw error;
  }
  return { url, stop: stopNow };
}

async function assignSlots(url: string): Promise<void> {
  // It reconnects until the server listens.
  const admin = new Redis(url, { enableReadyCheck: false, maxRetriesPerRequest: null });
  admin.on('error', () => {});
  try {
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await waitFor(async () => expect(await admin.cluster('INFO')).toContain('cluster_state:ok'), {
      timeout: 10_000,
    });
  } finally {
    admin.disconnect();
  }
}

async function stop(server: ChildProcess, folder: string): Promise<void> {
  if (server.exitCode === null && server.signalCode === null) {
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
  rmSync(folder, { recursive: true });
}
