import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { startRedis } from '../services/start-redis.js';
import { findFreePort, type ThrowawayServer } from '../services/throwaway-server.js';
import { waitFor } from '../wait-for.js';

/** Starts a Redis server in cluster mode: one node, which owns every slot. */
export async function startClusterServer(): Promise<ThrowawayServer> {
  const server = await startRedis({
    settings: [
      ['--cluster-enabled', 'yes'],
      ['--cluster-port', String(await findFreePort())],
      ['--cluster-announce-ip', '127.0.0.1'],
    ].flat(),
  });
  const admin = new Redis(server.url, { enableReadyCheck: false });
  try {
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await waitFor(async () => expect(await admin.cluster('INFO')).toContain('cluster_state:ok'), {
      timeout: 10_000,
    });
  } catch (error) {
    await server.stop();
    throw error;
  } finally {
    admin.disconnect();
  }
  return server;
}
