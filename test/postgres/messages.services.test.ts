import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { ContractService } from '../contract/store/service.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, nothing, order } from './change.js';
import { recordMessages } from './recorded-messages.js';
import { useSchema } from './server.js';

const { openPool, transaction } = useSchema('mp_messages');

describe.skipIf(!process.env['DATABASE_URL'])('what is sent to Postgres', () => {
  const pool = openPool({ max: 1 });
  const { take } = recordMessages(pool);
  const service = new ContractService();
  const store = postgresStore<pg.PoolClient>(pool, { client: service.client });
  /** The first word of each message, and the last of those with several statements. */
  const words = (messages: readonly string[]) =>
    messages.map((message) => {
      const [first = ''] = message.split(' ');
      const last = message.split('; ').at(-1);
      return last === message ? first : `${first} … ${last}`;
    });
  const CLAIM = 'BEGIN … SAVEPOINT merchant_payments';
  const work = async ({ tx }: { tx: pg.PoolClient }) => void (await tx.query('SELECT 1'));
  /** A change of a payment that the store has created. */
  const created = async (reference: string, status = 'paid') => {
    service.answer(reference, 'answer-lost');
    await store.create(order(reference));
    const [referenceNumber = ''] = service.paymentsOf(reference);
    take();
    return change(reference, 0, { referenceNumber, status });
  };

  it('is three messages for a new change: its claim, the work’s own, and its end', async () => {
    expect(await outcomeOf(store, await created('new'), work)).toBe('processed');
    expect(words(take())).toEqual([CLAIM, 'SELECT', 'RELEASE … COMMIT']);
    expect(await store.get('new')).toMatchObject({ state: 'created' });
    take();
  });

  it('is one more for a further attempt: the lock of its order', async () => {
    await store.create(order('first'));
    await store.create(order('further'), { replaces: 'first' });
    const [referenceNumber = ''] = service.paymentsOf('further');
    take();
    const event = change('further', 0, { referenceNumber, status: 'paid' });
    expect(await outcomeOf(store, event, work)).toBe('processed');
    expect(words(take())).toEqual([CLAIM, 'SELECT', 'SELECT', 'RELEASE … COMMIT']);
  });

  it('is one more for an order that is not known yet', async () => {
    await outcomeOf(store, change('unknown'), nothing);
    expect(words(take())).toEqual([
      CLAIM,
      'INSERT … SAVEPOINT merchant_payments',
      'RELEASE … COMMIT',
    ]);
  });

  it('is three more for work that fails, whose failure is kept in a transaction of its own', async () => {
    const event = await created('fails');
    const failing = outcomeOf(store, event, async ({ tx }) => {
      await tx.query('SELECT 1');
      throw new Error('out of stock');
    });
    await expect(failing).rejects.toThrow('out of stock');
    expect(words(take())).toEqual([CLAIM, 'SELECT', 'ROLLBACK', CLAIM, 'RELEASE … COMMIT']);
    await outcomeOf(store, event, work);
    // The first SELECT reads the failure, which no order has that never failed.
    expect(words(take())).toEqual([CLAIM, 'SELECT', 'SELECT', 'RELEASE … COMMIT']);
  });

  it('is two messages for a duplicate', async () => {
    const event = await created('twice');
    await outcomeOf(store, event, nothing);
    take();
    expect(await outcomeOf(store, event, nothing)).toBe('duplicate');
    expect(words(take())).toEqual([CLAIM, 'ROLLBACK']);
  });

  it('is two messages for a payment that is created', async () => {
    await store.create(order('created'));
    expect(words(take())).toEqual(['BEGIN … COMMIT', 'BEGIN … COMMIT']);
  });

  it('is five messages for a recorded one that is sent', async () => {
    await transaction((tx) => store.record(order('sent'), { tx }));
    await store.send('sent');
    const [begin, ...then] = words(take());
    expect(begin).toMatch(/^BEGIN/);
    expect(then).toEqual(['SELECT', 'UPDATE', 'SELECT … COMMIT', 'BEGIN … COMMIT']);
  });

  it('is one message for a look at a payment', async () => {
    await store.get('created');
    expect(words(take())).toEqual(['SELECT']);
  });
});
