import { PGlite } from '@electric-sql/pglite';
import { expect, it } from 'vitest';
import { memoryStore } from '../../src/store/memory.js';
import { postgresStore } from '../../src/postgres/index.js';
import pg from 'pg';
const change = (over: object = {}) => ({
  key: 'k1',
  payment: { referenceNumber: 'R1', merchantPaymentReference: 'O1', providerReference: '', status: 'paid', createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:01Z', ...over },
});
for (const [name, make] of [
  ['memory', async () => memoryStore()],
  ['pglite', async () => postgresStore(new PGlite())],
  ['pg', async () => { const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test', max: 4 }); await pool.query('DROP TABLE IF EXISTS payment_store_payments, payment_store_changes, payment_store_failed_changes, payment_store_second_payments'); return postgresStore(pool); }],
] as const) {
  it(name, async () => {
    const store = await make();
    await store.setup(); await store.setup();
    const seen: object[] = [];
    const run = (c: object) => store.process(c as never, async ({ stale, current, secondPayment }) => { seen.push({ stale, current, secondPayment }); });
    expect(await run(change())).toBe('processed');
    expect(await run(change())).toBe('duplicate');
    expect(await run({ ...change({ updatedAt: '2026-01-01T00:00:00Z' }), key: 'k0' })).toBe('processed');
    expect(await run({ ...change({ referenceNumber: 'R2' }), key: 'k2' })).toBe('processed');
    expect(seen).toEqual([{ stale: false, current: true, secondPayment: false }, { stale: true, current: false, secondPayment: false }, { stale: false, current: false, secondPayment: true }]);
    await expect(store.process({ ...change({ updatedAt: '2026-01-01T00:00:09Z' }), key: 'k3' } as never, async () => { throw new Error('no'); })).rejects.toThrow('no');
    const items = await all(store.attention());
    expect(items.map((i) => i.kind)).toEqual(['second-payment', 'failed-change']);
    for (const item of items) await store.discard(item);
    expect(await all(store.attention())).toEqual([]);
    expect(await store.prune(new Date(Date.now() + 1e6))).toBeGreaterThan(3);
  });
}
async function all<T>(list: AsyncIterable<T>): Promise<T[]> { const found: T[] = []; for await (const one of list) found.push(one); return found; }
