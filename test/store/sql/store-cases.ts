import { describe, expect, it } from 'vitest';
import type {
  ManagedStore,
  StatusChange,
  StoreContext,
} from '../../../src/store/callback-store.js';
import { databaseForms } from '../../../src/store/sql/sql.js';
import { change, collect, nothing } from '../../postgres/change.js';
import { isCurrent } from '../held-delivery.js';
import { outcomeOf } from '../outcome-of.js';

/** A database with the store's tables, and one of the merchant's: `orders (reference, status)`. */
export interface SqlStore {
  open(): ManagedStore<unknown>;
  /** Runs a statement in the transaction of the work. */
  send(tx: unknown, sql: string): Promise<unknown>;
  /** How many rows of the table have the value in the column, as another transaction sees them. */
  count(table: string, column: string, value: string): Promise<number>;
}

/** What holds in every SQL database. Every case has its own orders. */
export function describeSqlStore({ open, send, count }: SqlStore): void {
  const orders = (reference: string) => count('orders', 'reference', reference);
  const recorded = (reference: string) =>
    count('payment_store_changes', 'merchant_payment_reference', databaseForms.toName(reference));
  const insertOrder = (tx: unknown, reference: string) =>
    send(tx, `INSERT INTO orders (reference, status) VALUES ('${reference}', 'paid')`);
  const ordering =
    (reference: string) =>
    async ({ tx }: StoreContext<unknown>) =>
      void (await insertOrder(tx, reference));

  describe('the work’s own writes', () => {
    it('are committed with the change', async () => {
      expect(await outcomeOf(open(), change('writes'), ordering('writes'))).toBe('processed');
      expect(await orders('writes')).toBe(1);
      expect(await recorded('writes')).toBe(1);
      expect(await outcomeOf(open(), change('writes'), nothing)).toBe('duplicate');
    });

    it('are rolled back when the work throws, and repeated by a later delivery', async () => {
      const failure = new Error('no stock');
      const failing = outcomeOf(open(), change('undone'), async ({ tx }) => {
        await insertOrder(tx, 'undone');
        throw failure;
      });
      await expect(failing).rejects.toBe(failure);
      expect(await orders('undone')).toBe(0);
      expect(await recorded('undone')).toBe(0);
      expect(await outcomeOf(open(), change('undone'), ordering('undone'))).toBe('processed');
      expect(await orders('undone')).toBe(1);
    });

    it.each([
      ['throws', async () => Promise.reject(new Error('no stock'))],
      ['meets an error of the database', (tx: unknown) => send(tx, 'SELECT nothing')],
    ])('are undone when a change %s, and is parked', async (name, fail) => {
      const store = open();
      const reference = `parked-${name}`;
      const failures = { parkAfter: 1 };
      const event = change(reference, 0, { failures });
      const delivered = await store.process(event, async ({ tx }) => {
        await insertOrder(tx, reference);
        await fail(tx);
      });
      expect(delivered).toMatchObject({ outcome: 'failed', parkedAfter: 1 });
      expect(String(delivered.error)).toMatch(/no stock|nothing/);
      expect([await orders(reference), await recorded(reference)]).toEqual([0, 0]);
      const { referenceNumber } = event.payment;
      expect(await collect(store.attention({ referenceNumber }))).toMatchObject([
        { kind: 'failed-change', attempts: 1, parked: true },
      ]);
      const replay = { ...event, failures: { ...failures, runParked: true } };
      expect(await outcomeOf(store, replay, ordering(reference))).toBe('processed');
      expect(await orders(reference)).toBe(1);
      const failed = 'payment_store_failed_changes';
      const stored = databaseForms.toName(reference);
      expect(await count(failed, 'merchant_payment_reference', stored)).toBe(0);
    });
  });

  describe('the order of changes', () => {
    const run = (event: StatusChange) => isCurrent(open(), event);

    it('tells the work of an older one, and is not turned back by it', async () => {
      expect(await run(change('order', 5))).toBe(true);
      expect(await run(change('order', 1))).toBe(false);
      expect(await run(change('order', 1))).toBeUndefined();
      expect(await run(change('order', 4))).toBe(false);
      expect(await run(change('order', 6))).toBe(true);
      expect(await recorded('order')).toBe(4);
    });

    it('makes one older whose work failed before a later one was processed', async () => {
      const failing = outcomeOf(open(), change('failed-first', 1), () => Promise.reject('failed'));
      await expect(failing).rejects.toBe('failed');
      expect(await run(change('failed-first', 2))).toBe(true);
      expect(await run(change('failed-first', 1))).toBe(false);
    });

    it('knows microseconds', async () => {
      const at = (microseconds: number) => {
        const updatedAt = `2026-01-02T03:04:05.00000${microseconds}Z`;
        return run(change('micro', 0, { key: updatedAt, updatedAt }));
      };
      expect(await at(2)).toBe(true);
      expect(await at(1)).toBe(false);
      expect(await at(3)).toBe(true);
    });

    it('holds from year 0000 to year 9999', async () => {
      const at = (updatedAt: string) => run(change('years', 0, { key: updatedAt, updatedAt }));
      expect(await at('0000-01-01T00:00:00.000Z')).toBe(true);
      expect(await at('1969-12-31T23:59:59.999Z')).toBe(true);
      expect(await at('9999-12-31T23:59:59.999Z')).toBe(true);
      expect(await at('9999-12-31T23:59:59.998Z')).toBe(false);
    });
  });

  it.each([
    ['NUL', 'a\0b', 'a\0c'],
    ['blanks alone', ' ', '  '],
    ['a blank at the end', 'end', 'end '],
    ['another case', 'CASE', 'case'],
    ['accents composed and not', '\u00e9', 'e\u0301'],
    ['accents and none', 'a', 'á'],
    ['quotes and braces', `'"{}`, `'"{}}`],
    ['quotes and backslashes', `\\'"\\`, `\\'"\\\\`],
    ['placeholders', 'a?b:c', 'a?b:d'],
    ['10 KB', 'r'.repeat(10_000), `${'r'.repeat(9_999)}s`],
  ])('tells references and keys with %s apart', async (_name, one, other) => {
    const store = open();
    const at = (merchantPaymentReference: string, referenceNumber: string, key: string) =>
      outcomeOf(store, change(merchantPaymentReference, 0, { key, referenceNumber }), nothing);
    const names = [one, other].flatMap((first) =>
      [one, other].flatMap((second) =>
        [one, other].map((third) => [first, second, third] as const),
      ),
    );
    for (const name of names) expect(await at(...name)).toBe('processed');
    for (const name of names) expect(await at(...name)).toBe('duplicate');
  });
}
