import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { ContractService } from '../contract/store/service.js';
import { change, nothing, order } from './change.js';
import { recordMessages } from './recorded-messages.js';
import { useSchema } from './server.js';

const { openPool, transaction } = useSchema('mp_messages');

describe.skipIf(!process.env['DATABASE_URL'])('what is sent to Postgres', () => {
  const pool = openPool({ max: 1 });
  const { take } = recordMessages(pool);
  const service = new ContractService();
  const store = postgresStore<pg.PoolClient>(pool, { client: service.client });
  const INSERT = "INSERT INTO orders VALUES ('messages', 'paid')";
  /** The first word of each message, and the last of those with several statements. */
  const words = (messages: readonly string[]) =>
    messages.map((message) => {
      const plain = message.replace(/^\/\*.*\*\/ /, '');
      const [first = ''] = plain.split(' ');
      const last = plain.split('; ').at(-1);
      return last === plain ? first : `${first} … ${last}`;
    });
  const CLAIM = 'BEGIN … SAVEPOINT merchant_payments';

  it('is three messages for a new change: its claim, the work’s own, and its end', async () => {
    const outcome = await store.process(
      change('new'),
      async ({ tx }) => void (await tx.query(INSERT)),
    );
    expect(outcome).toBe('processed');
    expect(words(take())).toEqual([CLAIM, 'INSERT', 'RELEASE … COMMIT']);
  });

  it('is as many for one that settles a payment', async () => {
    service.answer('settles', 'answer-lost');
    await store.create(order('settles'));
    const [referenceNumber = ''] = service.paymentsOf('settles');
    take();
    const event = change('settles', 0, { referenceNumber, status: 'paid' });
    await store.process(event, async ({ tx }) => void (await tx.query('SELECT 1')));
    expect(words(take())).toEqual([CLAIM, 'SELECT', 'RELEASE … COMMIT']);
    expect(await store.get('settles')).toMatchObject({ state: 'created' });
    take();
  });

  it('is as many for work that fails, with its failure', async () => {
    const failing = store.process(change('fails'), async ({ tx }) => {
      await tx.query('SELECT 1');
      throw new Error('out of stock');
    });
    await expect(failing).rejects.toThrow('out of stock');
    expect(words(take())).toEqual([CLAIM, 'SELECT', 'ROLLBACK … COMMIT']);
  });

  it('is one more for a change of an order of which something has failed', async () => {
    await store.process(change('fails'), nothing);
    expect(words(take())).toEqual([CLAIM, 'SELECT', 'RELEASE … COMMIT']);
  });

  it.each([
    ['a duplicate', change('new')],
    ['a stale change', change('new', -1)],
  ])('is two messages for %s', async (_, event) => {
    await store.process(event, nothing);
    expect(words(take())).toEqual([CLAIM, 'ROLLBACK']);
  });

  it('is two messages for a payment that is created', async () => {
    await store.create(order('created'));
    expect(words(take())).toEqual(['INSERT', 'UPDATE']);
  });

  it('is five messages for a recorded one that is sent', async () => {
    await transaction((tx) => store.record(order('sent'), { tx }));
    await store.send('sent');
    const [begin, ...then] = words(take());
    expect(begin).toMatch(/^BEGIN/);
    expect(then).toEqual(['SELECT', 'UPDATE', 'COMMIT', 'UPDATE']);
  });

  it('is one message for a look at a payment', async () => {
    await store.get('created');
    expect(words(take())).toEqual(['SELECT']);
  });
});
