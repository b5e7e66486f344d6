import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { isCurrent } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, heldWork, nothing } from './change.js';
import { followFirstConnection } from './first-connection.js';
import { useRoles } from './roles.js';
import { useSchema } from './server.js';

const schema = 'mp_session';
const { openPool, observer } = useSchema(schema);

const role = 'mp_session_plain';
const other = 'mp_session_tenant';

describe.skipIf(!process.env['DATABASE_URL'])('the session', () => {
  useRoles(
    observer,
    [role, other],
    `GRANT ${other} TO ${role}; GRANT USAGE ON SCHEMA ${schema} TO ${role};
     GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
  );

  const open = (more = '') => openPool({ options: `-c role=${role} ${more}` });

  it('writes what it commits to disk, a failure too, where the role’s default is not to', async () => {
    // Deferred, it runs at the commit.
    await observer.query(`CREATE TABLE ${schema}.seen (setting text);
      GRANT INSERT ON ${schema}.seen TO ${role};
      CREATE FUNCTION ${schema}.note_setting() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO ${schema}.seen VALUES (current_setting('synchronous_commit'));
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER seen AFTER INSERT ON ${schema}.payment_store_changes
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${schema}.note_setting();
      CREATE CONSTRAINT TRIGGER seen AFTER INSERT ON ${schema}.payment_store_failed_changes
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${schema}.note_setting()`);
    const pool = open('-c synchronous_commit=off');
    const store = postgresStore(pool);
    await outcomeOf(store, change('commit'), async () => {});
    for (const parkAfter of [1, undefined]) {
      const failed = change(`failed-${parkAfter}`, 0, { failures: { parkAfter } });
      const failing = outcomeOf(store, failed, () => Promise.reject(new Error('out of stock')));
      await expect(failing).rejects.toThrow('out of stock');
    }
    const { rows } = await observer.query(`SELECT setting FROM ${schema}.seen`);
    expect(rows).toEqual([{ setting: 'on' }, { setting: 'on' }, { setting: 'on' }]);
    expect((await pool.query('SHOW synchronous_commit')).rows[0].synchronous_commit).toBe('off');
    await observer.query(`DROP TRIGGER seen ON ${schema}.payment_store_changes;
      DROP TRIGGER seen ON ${schema}.payment_store_failed_changes`);
  });

  it('keeps a default that is on its way to disk', async () => {
    const pool = open('-c synchronous_commit=local');
    await outcomeOf(postgresStore(pool), change('local'), async ({ tx }) => {
      const { rows } = await tx.query('SHOW synchronous_commit');
      expect(rows).toEqual([{ synchronous_commit: 'local' }]);
    });
  });

  it('fails a claim that a statement_timeout ends before the time for the lock is over', async () => {
    const held = heldWork();
    const first = outcomeOf(postgresStore(open()), change('cut', 1), held.work);
    await held.started;
    const cut = postgresStore(open('-c statement_timeout=1'));
    for (const delivery of [1, 2]) {
      await expect(outcomeOf(cut, change('cut', delivery), nothing)).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining('statement_timeout'),
        cause: expect.objectContaining({ code: '57014' }),
      });
    }
    const patient = postgresStore(open('-c statement_timeout=60s'), { lockTimeoutMs: 5 });
    expect(await outcomeOf(patient, change('cut', 2), nothing)).toBe('busy');
    held.finish();
    expect(await first).toBe('processed');
  });

  it('sends statements that differ in their literals alone', async () => {
    const pool = open();
    const shapes = new Set<string>();
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...args: unknown[]) => unknown;
      Object.assign(client, {
        query: (...args: unknown[]) => {
          if (typeof args[0] === 'string') shapes.add(args[0].replaceAll(/E?'(?:''|[^'])*'/g, '?'));
          return query(...args);
        },
      });
    });
    const counts: number[] = [];
    for (const index of [1, 2, 3]) {
      const store = postgresStore(pool);
      await outcomeOf(store, change(`shape-${index}`), nothing);
      await outcomeOf(store, change(`shape-${index}`), nothing);
      counts.push(shapes.size);
    }
    expect(counts[2]).toBe(counts[0]);
  });

  it.each([
    ['a quote', "a'b"],
    ['a backslash', 'a\\b'],
    ['a backslash at the end, and a quote', "a\\'; DROP TABLE orders; --\\"],
  ])(
    'takes %s in references and keys, whatever standard_conforming_strings is',
    async (_, text) => {
      for (const setting of ['on', 'off']) {
        const options = `-c standard_conforming_strings=${setting} -c escape_string_warning=off`;
        const store = postgresStore(open(options));
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

  it('that returns nothing readable fails with an explanation', async () => {
    const pool = openWith({ types: { getTypeParser: () => () => 7 } as never });
    await expect(
      outcomeOf(postgresStore(pool), change('as-numbers'), nothing),
    ).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('type parser'),
    });
    await pool.end();
  });
});
