import { describe, expect, it } from 'vitest';
import type { ManagedStore } from '../../../src/store/callback-store.js';
import { change, collect, nothing } from '../../postgres/change.js';
import { outcomeOf } from '../outcome-of.js';

/** A store on a pool of one connection, with a table `orders (reference, status)` of the merchant's. */
export interface PoolOfOne<Tx> {
  readonly store: ManagedStore<Tx>;
  send(tx: Tx, sql: string): Promise<unknown>;
  /** The status of each order with this reference, in their order. */
  statuses(reference: string): Promise<readonly unknown[]>;
  /** Statements by which the work ends or breaks its transaction, as the error names it. */
  readonly ends: readonly (readonly [sql: readonly string[], named: string])[];
}

/** What holds of the `tx` of a pool. Every case has its own payment. */
export function describeTx<Tx>({ store, send, statuses, ends }: PoolOfOne<Tx>): void {
  const insert = (reference: string, status = 'new') =>
    `INSERT INTO orders VALUES ('${reference}', '${status}')`;

  describe('work that ends or breaks its transaction', () => {
    it.each(ends)('by %j has failed, and runs again', async (statements, named) => {
      const reference = `ends-${ends.findIndex(([one]) => one === statements)}`;
      const { referenceNumber } = change(reference).payment;
      const result = await store.process(change(reference), async ({ tx }) => {
        await send(tx, insert(reference, 'before'));
        for (const statement of statements) await send(tx, statement).catch(() => undefined);
      });
      expect(result).toMatchObject({
        outcome: 'failed',
        error: { code: 'TRANSACTION_LOST', message: expect.stringContaining(named) },
      });
      const listed = await collect(store.attention({ referenceNumber }));
      expect(listed).toMatchObject([{ attempts: 1, error: { code: 'TRANSACTION_LOST' } }]);
      let runs = 0;
      const again = await outcomeOf(store, change(reference), async () => {
        runs += 1;
      });
      expect([again, runs]).toEqual(['processed', 1]);
    });
  });

  it('sends nothing for work that has ended, because the connection may be in another transaction', async () => {
    let late: Tx | undefined;
    await outcomeOf(store, change('late'), async ({ tx }) => {
      late = tx;
    });
    await outcomeOf(store, change('other'), async () => {
      await expect(send(late as Tx, insert('late'))).rejects.toThrow('The query was not sent');
    });
    expect(await statuses('late')).toEqual([]);
  });

  it.each([
    ['a query', (tx: Tx) => [send(tx, insert('forgotten'))]],
    [
      'two, of which one fails',
      (tx: Tx) => [send(tx, 'SELECT nothing'), send(tx, insert('forgotten'))],
    ],
  ])('is rolled back when the work returns before %s, and runs again', async (_, forget) => {
    const forgetful = outcomeOf(store, change('forgotten'), async ({ tx }) => {
      for (const query of forget(tx)) query.catch(() => undefined);
    });
    await expect(forgetful).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('Await every query'),
    });
    expect(await statuses('forgotten')).toEqual([]);
  });

  it('waits for what runs on when a Promise.all has failed in part', async () => {
    const failing = outcomeOf(store, change('in-part'), async ({ tx }) => {
      await Promise.all([
        send(tx, 'SELECT nothing'),
        send(tx, insert('in-part', 'one')),
        send(tx, insert('in-part', 'two')),
      ]);
    });
    await expect(failing).rejects.toThrow('nothing');
    expect(await statuses('in-part')).toEqual([]);
    expect(await outcomeOf(store, change('in-part'), nothing)).toBe('processed');
  });

  it('leads the error of a statement to the work', async () => {
    const { error } = await store.process(change('stack'), async function shipOrder({ tx }) {
      await send(tx, 'SELECT nothing');
    });
    expect((error as Error).stack).toContain('shipOrder');
  });
}
