import type { Pool, PoolClient } from 'pg';

/**
 * Follows the first connection of a pool: what has failed is kept on another one, so that the pool's size
 * does not show that the first was closed. Its `remove` event waits for an answer that may never come.
 */
export function followFirstConnection(pool: Pool): { isInPool(): boolean } {
  let first: PoolClient | undefined;
  pool.once('connect', (client) => {
    first = client;
  });
  return {
    isInPool() {
      if (first === undefined) throw new Error('No connection was made');
      const { _clients } = pool as unknown as { readonly _clients: readonly PoolClient[] };
      return _clients.includes(first);
    },
  };
}
