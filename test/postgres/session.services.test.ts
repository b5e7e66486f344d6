import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { isCurrent } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, nothing } from './change.js';
import { followFirstConnection } from './first-connection.js';
import { useSchema } from './server.js';

const schema = 'mp_session';
const { openPool, observer } = useSchema(schema);

describe.skipIf(!process.env['DATABASE_URL'])('the session', () => {
  it.each([
    ['a quote', "a'b"],
    ['a backslash', 'a\\b'],
    ['a backslash at the end, and a quote', "a\\'; DROP TABLE orders; --\\"],
  ])(
    'takes %s in references and keys, whatever standard_conforming_strings is',
    async (_, text) => {
      for (const setting of ['on', 'off']) {
        const options = `-c standard_conforming_strings=${setting} -c escape_string_warning=off`;
        const store = postgresStore(openPool({ options }));
        const reference = text.replaceAll(' ', '');
        const event = change(`${reference}-${setting}`, 0, { key: reference });
        expect(await outcomeOf(store, event, nothing)).toBe('processed');
        const { rows } = await observer.query(
          'SELECT change_key AS key FROM payment_store_changes WHERE merchant_payment_reference = $1',
          [event.payment.merchantPaymentReference],
        );
        expect(rows).toEqual([{ key: reference }]);
        expect(await outcomeOf(store, event, nothing)).toBe('duplicate');
      }
    },
  );
});

describe.skipIf(!process.env['DATABASE_URL'])(
  'a connection whose server has become read-only',
  () => {
    it.each(['25006', '0A000'])('(%s) is closed and not used again', async (sqlState) => {
      const pool = openPool({ max: 1 });
      const connection = followFirstConnection(pool);
      const failing = outcomeOf(
        postgresStore(pool),
        change(`spoiled-${sqlState}`),
        async ({ tx }) => {
          await tx.query(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${sqlState}'; END $$`);
        },
      );
      await expect(failing).rejects.toMatchObject({ code: sqlState });
      expect(connection.isInPool()).toBe(false);
    });

    it('is kept after any other error of a statement', async () => {
      const pool = openPool({ max: 1 });
      const failing = outcomeOf(postgresStore(pool), change('kept'), async ({ tx }) => {
        await tx.query('SELECT 1/0');
      });
      await expect(failing).rejects.toMatchObject({ code: '22012' });
      expect(pool).toMatchObject({ totalCount: 1, idleCount: 1 });
    });
  },
);

describe.skipIf(!process.env['DATABASE_URL'])('a pool that gives results in its own way', () => {
  const connectionString = process.env['DATABASE_URL'] ?? '';
  const openWith = (config: pg.PoolConfig) =>
    new pg.Pool({ connectionString, options: `-c search_path=${schema}`, ...config });

  it('that returns everything as text runs the work once', async () => {
    const asText = { getTypeParser: () => (value: string) => value };
    const pool = openWith({ types: asText as never });
    const store = postgresStore(pool);
    let runs = 0;
    const work = async () => {
      runs += 1;
    };
    expect(await outcomeOf(store, change('as-text', 1), work)).toBe('processed');
    expect(await outcomeOf(store, change('as-text', 1), work)).toBe('duplicate');
    expect(await isCurrent(store, change('as-text', 0))).toBe(false);
    expect(runs).toBe(1);
    await store.setup();
    expect(await store.prune(new Date(0))).toBe(0);
    await pool.end();
  });

  it('that returns rows as arrays runs the work once', async () => {
    class ArrayClient extends pg.Client {}
    const query = pg.Client.prototype.query as (this: pg.Client, ...args: unknown[]) => unknown;
    Object.assign(ArrayClient.prototype, {
      query(this: pg.Client, text: unknown, ...more: unknown[]) {
        const asked = typeof text === 'string' ? { text, rowMode: 'array' } : text;
        return query.call(this, asked, ...more);
      },
    });
    const pool = openWith({ Client: ArrayClient } as never);
    const store = postgresStore(pool);
    expect(await outcomeOf(store, change('as-arrays'), nothing)).toBe('processed');
    expect(await outcomeOf(store, change('as-arrays'), nothing)).toBe('duplicate');
    await pool.end();
  });
});
