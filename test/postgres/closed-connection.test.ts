import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, nothing } from './change.js';

class SilentClient extends EventEmitter {
  readonly query = () => new Promise<never>(() => {});
  readonly release = vi.fn();
}

it('a connection that is closed may still say why the server ends it', async () => {
  const client = new SilentClient();
  const limits = { lockTimeoutMs: 10, commandTimeoutMs: 10 };
  const store = postgresStore({ connect: async () => client } as never, limits);
  await expect(outcomeOf(store, change('silent'), nothing)).rejects.toMatchObject({
    code: 'STORE_TIMEOUT',
  });
  expect(client.release).toHaveBeenCalledWith(expect.any(Error));
  expect(() => client.emit('error', new Error('terminating connection'))).not.toThrow();
});
