import { describe, expect, it } from 'vitest';
import { ContractService } from '../../../src/outbox/contract/service.js';
import { postgresOutbox } from '../../../src/outbox/postgres/postgres-outbox.js';
import { order } from '../settling-scene.js';
import { useSchema } from './server.js';

describe.skipIf(!process.env['DATABASE_URL'])('the connections of postgresOutbox', () => {
  const { openPool } = useSchema();

  it('sends nothing on one that was released with its transaction open, and closes it', async () => {
    const service = new ContractService();
    const pool = openPool({ max: 1 });
    const outbox = postgresOutbox(pool, { client: service.client });
    const client = await pool.connect();
    await client.query('BEGIN');
    client.release();
    await expect(outbox.create(order('order-1'))).rejects.toMatchObject({
      code: 'STORE_FAILED',
      cause: { message: expect.stringContaining('a transaction is open') },
    });
    expect(service.requestsFor('order-1')).toEqual([]);
    expect(await outbox.create(order('order-1'))).toMatchObject({ state: 'created' });
    expect(service.requestsFor('order-1')).toHaveLength(1);
  });
});
