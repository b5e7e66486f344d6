import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, nothing } from './change.js';
import { useSchema } from './server.js';
import { describeStore } from './store-cases.js';

const { openPool, observer } = useSchema('mp_store');

describe.skipIf(!process.env['DATABASE_URL'])('postgresStore on a server', () => {
  const pool = openPool();
  describeStore(() => ({ pool, query: (text, values) => observer.query(text, values) }));

  it('hides its writes from other connections until it commits', async () => {
    const orders = async () =>
      (await observer.query('SELECT * FROM orders WHERE status = $1', ['unseen'])).rows;
    await outcomeOf(postgresStore(pool), change('unseen'), async ({ tx }) => {
      await tx.query("INSERT INTO orders VALUES ('unseen', 'unseen')");
      expect(await orders()).toEqual([]);
    });
    expect(await orders()).toHaveLength(1);
  });

  it('writes on a database whose default is read only', async () => {
    const readOnly = postgresStore(openPool({ options: '-c default_transaction_read_only=on' }));
    expect(await outcomeOf(readOnly, change('read-only'), nothing)).toBe('processed');
  });
});

describe.skipIf(!process.env['DATABASE_URL'])(
  'postgresStore on a database whose default is serializable',
  () => {
    const pool = openPool({ options: '-c default_transaction_isolation=serializable' });
    describeStore(() => ({ pool, query: (text, values) => observer.query(text, values) }));
  },
);
