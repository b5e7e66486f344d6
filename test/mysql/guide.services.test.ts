import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { VerifiedCallback } from '../../src/callback/options.js';
import type { ManagedStore, StoreContext } from '../../src/store/callback-store.js';
import { change } from '../postgres/change.js';
import { inDatabase } from '../services/mysql-url.js';
import { useDatabase } from './server.js';

interface Sample {
  /** That of each sample has another `tx`. */
  readonly store: ManagedStore<never>;
  onPayment(callback: VerifiedCallback, context: StoreContext<never>): Promise<void>;
}

const url = process.env['MYSQL_URL'] ?? '';
const database = 'mp_store_guide';
const { query } = useDatabase(database);

// Samples of docs/your-own-transaction.md; test/docs holds the guide to these files.
describe.skipIf(!url)('the samples of the guide on MySQL', () => {
  const samples = ['mysql-drizzle', 'mysql-typeorm', 'mysql-prisma'];
  const modules = new Map<string, Sample>();
  let close = async (): Promise<void> => undefined;

  beforeAll(async () => {
    await query('DROP TABLE orders');
    const tables = readFileSync('examples/transactions/mysql-tables.sql', 'utf8');
    for (const statement of tables.trim().split(/;\n/)) await query(statement);
    vi.stubEnv('MYSQL_URL', inDatabase(url, database));
    for (const name of samples) {
      modules.set(name, await import(`../../examples/transactions/${name}.ts`));
    }
    const { db } = await import('../../examples/transactions/mysql-drizzle.js');
    const { dataSource } = await import('../../examples/transactions/mysql-typeorm.js');
    const { prisma } = await import('../../examples/transactions/mysql-prisma.js');
    close = async () => {
      await new Promise((resolve) => db.$client.end(resolve));
      await dataSource.destroy();
      await prisma.$disconnect();
    };
  });
  afterAll(() => close());

  it.each(samples)('%s marks the order and ships once, and both or neither', async (name) => {
    const { store, onPayment } = modules.get(name) as Sample;
    const reference = `order-${name}`;
    const deliver = (status: string, minute: number) =>
      store.process(change(reference, minute, { processStale: true }), (context) => {
        const payment = { merchantPaymentReference: reference, status };
        return onPayment({ payment } as VerifiedCallback, context);
      });
    const stored = async () => {
      const orders = await query('SELECT status FROM orders WHERE reference = ?', [reference]);
      const shipped = await query('SELECT 1 FROM shipments WHERE reference = ?', [reference]);
      return [orders[0]?.['status'], shipped.length];
    };
    await expect(deliver('paid', 1)).rejects.toMatchObject({ code: 'RETRY_LATER' });
    await query('INSERT INTO orders (reference) VALUES (?)', [reference]);
    expect(await deliver('paid', 1)).toBe('processed');
    expect(await deliver('paid', 1)).toBe('duplicate');
    expect(await deliver('paid', 2)).toBe('processed');
    expect(await stored()).toEqual(['paid', 1]);
    await query('DELETE FROM shipments');
    await query('RENAME TABLE shipments TO away');
    await expect(deliver('paid', 3)).rejects.toThrow();
    await query('RENAME TABLE away TO shipments');
    expect(await deliver('settled', 5)).toBe('processed');
    expect(await deliver('paid', 4)).toBe('processed');
    expect(await stored()).toEqual(['settled', 1]);
  });

  // Collations that pad take the two for one; `order-1` would then be paid by the payment of `order-1 `.
  it('store no order whose reference ends in a space, nor a shortened one', async () => {
    const store = (reference: string) =>
      query(
        'INSERT INTO orders (reference) VALUES (?) ON DUPLICATE KEY UPDATE reference = reference',
        [reference],
      );
    await store('order-padded');
    await store('order-padded');
    await expect(store('order-padded ')).rejects.toThrow(/constraint/i);
    await expect(store('order-new ')).rejects.toThrow(/constraint/i);
    await expect(store('o'.repeat(201))).rejects.toMatchObject({ code: 'ER_DATA_TOO_LONG' });
    const stored = await query("SELECT reference FROM orders WHERE reference LIKE 'order-padded%'");
    expect(stored).toEqual([{ reference: 'order-padded' }]);
  });
});
