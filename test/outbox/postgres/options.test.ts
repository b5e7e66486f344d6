import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresOutbox } from '../../../src/outbox/postgres/postgres-outbox.js';
import { recordLines } from '../../protocol/recorded-lines.js';
import { order } from '../settling-scene.js';
import { unusedClient } from '../unused-client.js';

// Connects only when it is used, and then to no server.
const pool = new pg.Pool({ connectionString: 'postgresql://u:secret@127.0.0.1:1/db' });

describe('the options of postgresOutbox', () => {
  it('must be an object with a client', () => {
    expect(() => postgresOutbox(pool, undefined as never)).toThrow(
      /^options is missing; it must be an object with client$/,
    );
  });

  it('may hold a logger, which gets what fails', async () => {
    const { lines, logger } = recordLines();
    const outbox = postgresOutbox(pool, { client: unusedClient, logger });
    await expect(outbox.create(order('order-1'))).rejects.toMatchObject({ code: 'STORE_FAILED' });
    expect(lines).toMatchObject([{ level: 'error', fields: { code: 'STORE_FAILED' } }]);
  });
});
