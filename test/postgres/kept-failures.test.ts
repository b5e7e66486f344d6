import type { PGlite } from '@electric-sql/pglite';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/postgres/pool.js';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { FailureTable } from '../../src/postgres/store-failure-table.js';
import { quoteTables } from '../../src/postgres/store-options.js';
import { pgliteTransactions, type Transactions } from '../../src/postgres/transactions.js';
import type { FailedChange } from '../../src/store/failed-changes.js';
import { emptyPglite } from '../pglite.js';
import { change, nothing } from './change.js';

let database: PGlite;

beforeAll(async () => {
  database = await emptyPglite();
  await postgresStore(database).setup();
  await database.exec(`CREATE TABLE once (reference text UNIQUE DEFERRABLE INITIALLY DEFERRED);
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'the disk is full'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON payment_store_failed_changes FOR EACH ROW
      WHEN (NEW.merchant_payment_reference LIKE 'unkept%') EXECUTE FUNCTION refuse()`);
});

const fail = (message = 'broken') => Promise.reject(new Error(message));

async function list(paymentReference: string): Promise<FailedChange[]> {
  const changes: FailedChange[] = [];
  for await (const one of postgresStore(database).failedChanges({ paymentReference })) {
    changes.push(one);
  }
  return changes;
}

describe('a failure', () => {
  it('rejects as it is when it can’t be kept, and never parks then', async () => {
    let parked = 0;
    const failures = { parkAfter: 1, onParked: () => (parked += 1) };
    const event = change('unkept', 0, { failures });
    const failing = postgresStore(database).process(event, () => fail('the handler is broken'));
    await expect(failing).rejects.toThrow('the handler is broken');
    expect(parked).toBe(0);
    expect(await list('unkept')).toEqual([]);
  });

  it('is what a blocked change is answered with that can’t be kept: nothing else has it', async () => {
    const failures = { parkAfter: 1, blockParked: true };
    await database.exec('ALTER TABLE payment_store_failed_changes DISABLE TRIGGER refuse');
    await postgresStore(database)
      .process(change('unkept-2', 0, { failures }), () => fail())
      .catch(() => undefined);
    await database.exec('ALTER TABLE payment_store_failed_changes ENABLE TRIGGER refuse');
    const blocked = postgresStore(database).process(change('unkept-2', 1, { failures }), nothing);
    await expect(blocked).rejects.toMatchObject({
      code: 'STORE_FAILED',
      cause: { message: 'the disk is full' },
    });
  });

  it('is forgotten in the transaction that records the change, or not at all', async () => {
    const store = postgresStore(database);
    const insert = (tx: { query(sql: string): Promise<unknown> }) =>
      tx.query("INSERT INTO once VALUES ('at commit')");
    await store.process(change('at-commit'), () => fail()).catch(() => undefined);
    const failing = store.process(change('at-commit'), async ({ tx }) => {
      await insert(tx);
      await insert(tx);
    });
    await expect(failing).rejects.toMatchObject({ code: 'STORE_FAILED', cause: { code: '23505' } });
    expect(await list('at-commit')).toMatchObject([{ attempts: 2, error: { code: '23505' } }]);
    await store.process(change('at-commit'), ({ tx }) => insert(tx).then(nothing));
    // The list would hide a row that is left.
    const { rows } = await database.query(
      "SELECT FROM payment_store_failed_changes WHERE merchant_payment_reference = 'at-commit'",
    );
    expect(rows).toEqual([]);
  });

  it('is not kept of a change that another instance has processed meanwhile', async () => {
    await postgresStore(database).process(change('overtaken'), nothing);
    const table = new FailureTable(
      pgliteTransactions(database, 60_000),
      quoteTables('payment_inbox_'),
      { commandTimeoutMs: 60_000, keepBodies: false },
    );
    const { key, paymentReference } = change('overtaken');
    const kept = await table.keep(
      { reference: paymentReference, key, occurredAtUs: '1', processStale: true },
      { key, paymentReference },
      {
        ran: true,
        parkFrom: 1,
        error: { name: 'Error', message: '' },
        getRawBody: () => undefined,
      },
    );
    expect(kept).toBeUndefined();
  });

  it('that was kept while another instance processed the change counts for nothing', async () => {
    // Its claim has seen no failure, so it has not forgotten one.
    const store = postgresStore(database);
    await store.process(change('left-over'), nothing);
    await database.query(
      `INSERT INTO payment_store_failed_changes (merchant_payment_reference, key, occurred_at_us, attempts, parked, error)
       VALUES ('left-over', $1, 0, 1, true, '{}')`,
      [change('left-over').key],
    );
    expect(await list('left-over')).toEqual([]);
    const later = change('left-over', 1, { failures: { parkAfter: 1, blockParked: true } });
    expect(await store.process(later, nothing)).toBe('processed');
    expect(await store.prune(new Date(0))).toBe(1);
    const { rows } = await database.query(
      "SELECT FROM payment_store_failed_changes WHERE merchant_payment_reference = 'left-over'",
    );
    expect(rows).toEqual([]);
  });
});

describe('prune', () => {
  it('deletes what last failed before the time, parked or not, with its body', async () => {
    const store = postgresStore(database, { keepBodies: true });
    const getRawBody = () => new Uint8Array([1]);
    for (const parkAfter of [1, undefined]) {
      const event = change(`aged-${parkAfter}`, 0, { failures: { parkAfter, getRawBody } });
      await store.process(event, () => fail()).catch(() => undefined);
    }
    await database.exec(`UPDATE payment_store_failed_changes SET first_failed_at = '2020-01-01'
      WHERE merchant_payment_reference LIKE 'aged%';
      UPDATE payment_store_failed_changes SET last_failed_at = '2020-02-01' WHERE merchant_payment_reference = 'aged-1'`);
    expect(await store.prune(new Date('2020-01-15'))).toBe(0);
    expect(await store.prune(new Date('2020-03-01'))).toBe(1);
    expect(await list('aged-1')).toEqual([]);
    // It has failed again since.
    expect(await list('aged-undefined')).toHaveLength(1);
  });

  it('deletes more than a batch', async () => {
    await database.exec(`INSERT INTO payment_store_failed_changes
        (merchant_payment_reference, key, occurred_at_us, attempts, parked, error, first_failed_at, last_failed_at)
      SELECT 'batch-' || n, 'key', 0, 1, false, '{}', '2019-01-01', '2019-01-01' FROM generate_series(1, 2001) n`);
    expect(await postgresStore(database).prune(new Date('2019-06-01'))).toBe(2001);
  });
});

describe('failedChanges', () => {
  it('reads page by page, in order, beyond the precision of a Date', async () => {
    await database.exec(`INSERT INTO payment_store_failed_changes
        (merchant_payment_reference, key, occurred_at_us, attempts, parked, error, first_failed_at)
      SELECT 'pages', 'key-' || n, 0, 1, false, '{"name":"Error","message":""}',
        '2021-01-01'::timestamptz + (n % 7) * interval '1 microsecond' FROM generate_series(1, 250) n`);
    const changes = await list('pages');
    expect(new Set(changes.map(({ key }) => key)).size).toBe(250);
    expect(changes).toHaveLength(250);
    const { rows } = await database.query<{ key: string }>(
      `SELECT key FROM payment_store_failed_changes WHERE merchant_payment_reference = 'pages'
       ORDER BY first_failed_at, key`,
    );
    expect(changes.map(({ key }) => key)).toEqual(rows.map(({ key }) => key));
  });

  it('says so when the table holds something else', async () => {
    await database.exec(`INSERT INTO payment_store_failed_changes
        (merchant_payment_reference, key, occurred_at_us, attempts, parked, error)
      VALUES ('other', 'key', 0, 1, false, 'customer@example.org')`);
    const failing = list('other');
    await expect(failing).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await expect(failing).rejects.not.toThrow('customer');
  });

  it.each([{ limit: 0 }, { limit: 1.5 }, { paymentReference: '' }, { max: 1 }])(
    'refuses %o',
    (options) => {
      expect(() => postgresStore(database).failedChanges(options as object)).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTION' }),
      );
    },
  );
});

it('asks for setup() where the table is missing', async () => {
  const store = postgresStore(database, { prefix: 'nowhere_' });
  const missing = { code: 'MISSING_TABLES' };
  await expect(store.discard({ key: 'k', paymentReference: 'p' })).rejects.toMatchObject(missing);
  await expect(store.failedChanges()[Symbol.asyncIterator]().next()).rejects.toMatchObject(missing);
});

it('does not take an answer without its row for an empty list', async () => {
  // Of a pool that changes what queries return.
  const transactions: Transactions<Queryable> = {
    async run(body) {
      const begin = async () => [];
      return (await body({ begin } as never)).result;
    },
  };
  const options = { commandTimeoutMs: 500, keepBodies: false };
  const table = new FailureTable(transactions, quoteTables('payment_inbox_'), options);
  const listed = table.failedChanges()[Symbol.asyncIterator]().next();
  await expect(listed).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining('did not return the text'),
  });
});
