import { describe, expect, it, onTestFinished } from 'vitest';
import { quoteTables } from '../../src/postgres/inbox-options.js';
import { setup } from '../../src/postgres/inbox-setup.js';
import type { Queryable } from '../../src/postgres/pool.js';
import {
  type Ending,
  type OpenTransaction,
  pgliteTransactions,
  type Transactions,
} from '../../src/postgres/transactions.js';
import { emptyPglite } from '../pglite.js';

const TABLES = quoteTables('p_');

/** Sets up where the first look and the second find these parts missing, and CREATE fails with that. */
async function setUp(looks: string[], failure?: Error) {
  const statements: string[] = [];
  const tx = {
    async query<Row>(text: string): Promise<{ rows: Row[] }> {
      if (text.startsWith('SELECT concat_ws')) {
        statements.push('look');
        return { rows: [{ missing: looks.shift() }] as Row[] };
      }
      const [, statement = text] = /(CREATE.*? ".*?")[ (\n]/.exec(text) ?? [];
      statements.push(statement);
      if (text.includes('CREATE') && failure) throw failure;
      return { rows: [] };
    },
  };
  const signal = new AbortController().signal;
  const transaction = {
    tx,
    signal,
    begin: async () => [],
    query: async (statement: string) => (await tx.query<object>(statement)).rows,
  };
  const transactions = { run: async (body: Body) => (await body(transaction)).result };
  await setup(transactions as Transactions<Queryable>, TABLES, TIMEOUTS);
  return statements;
}

type Body = (transaction: OpenTransaction<Queryable>) => Promise<Ending<unknown>>;
const TIMEOUTS = { commandTimeoutMs: 60_000 };
const LOCKS = [expect.stringContaining('pg_advisory_xact_lock'), 'SET LOCAL lock_timeout = 2000'];

describe('setup', () => {
  it('creates the tables and indexes of a database, and later only checks', async () => {
    const database = await emptyPglite();
    onTestFinished(async () => {
      await database.exec('RESET ROLE; DROP ROLE reader');
    });
    const transactions = pgliteTransactions(database, 60_000);
    const made = async () => {
      const { rows } = await database.query(
        "SELECT relname AS name, oid FROM pg_class WHERE relname LIKE 'p\\_%' ORDER BY 1",
      );
      return rows as { name: string; oid: number }[];
    };
    await setup(transactions, TABLES, TIMEOUTS);
    const first = await made();
    expect(first.map(({ name }) => name)).toEqual([
      'p_events',
      'p_events_pkey',
      'p_events_processed_at',
      'p_failures',
      'p_failures_by_time',
      'p_failures_pkey',
      'p_payments',
      'p_payments_pkey',
    ]);
    // A role that may not create anything, as CREATE … IF NOT EXISTS would need it to.
    await database.exec('CREATE ROLE reader; REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    await database.exec('SET ROLE reader');
    await setup(transactions, TABLES, TIMEOUTS);
    expect(await made()).toEqual(first);
  });

  it('only checks if everything exists', async () => {
    expect(await setUp([''])).toEqual(['look']);
  });

  it('creates what is missing, serialized with others, with a short lock timeout for the tables', async () => {
    const missing = '1 2 3 4 5';
    expect(await setUp([missing, missing])).toEqual([
      'look',
      ...LOCKS,
      'look',
      'CREATE TABLE IF NOT EXISTS "p_events"',
      'CREATE INDEX IF NOT EXISTS "p_events_processed_at"',
      'CREATE TABLE IF NOT EXISTS "p_failures"',
      'CREATE INDEX IF NOT EXISTS "p_failures_by_time"',
      expect.stringContaining('FUNCTION'),
    ]);
  });

  it('creates nothing when another process has done so in the meantime', async () => {
    expect(await setUp(['0 1 2 3 4 5', ''])).toEqual(['look', ...LOCKS, 'look']);
  });

  it('says what to do when a table is in use for too long', async () => {
    const missing = '2';
    const cause = Object.assign(new Error('lock timeout'), { code: '55P03' });
    await expect(setUp([missing, missing], cause)).rejects.toMatchObject({
      code: 'STORE_TIMEOUT',
      message: expect.stringContaining('call setup() again later'),
      cause,
    });
  });

  it('rejects with any other error of Postgres as it is', async () => {
    const missing = '0';
    const failure = Object.assign(new Error('permission denied'), { code: '42501' });
    await expect(setUp([missing, missing], failure)).rejects.toBe(failure);
  });
});
