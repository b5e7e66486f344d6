import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import { fromDrizzle } from '../../../src/store/providers/drizzle.js';
import { outcomeOf } from '../../store/outcome-of.js';
import { change } from '../change.js';
import { useSchema } from '../server.js';

const { openPool } = useSchema('mp_drizzle');

const orders = pgTable('orders', { reference: text().primaryKey(), status: text() });

describe.skipIf(!process.env['DATABASE_URL'])("Drizzle's relational queries", () => {
  it('are in the transaction of the work, and are refused once it has ended', async () => {
    const db = drizzle(openPool(), { schema: { orders } });
    const store = postgresStore(fromDrizzle(db));
    let kept: Parameters<Parameters<typeof db.transaction>[0]>[0] | undefined;
    const outcome = await outcomeOf(store, change('relational'), async ({ tx }) => {
      kept = tx;
      await tx.insert(orders).values({ reference: 'relational', status: 'paid' });
      expect(await tx.query.orders.findMany()).toMatchObject([{ status: 'paid' }]);
    });
    expect(outcome).toBe('processed');
    await expect(kept?.query.orders.findMany()).rejects.toMatchObject({
      cause: { code: 'TRANSACTION_LOST' },
    });
  });
});
