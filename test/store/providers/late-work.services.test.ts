import { setImmediate as turn } from 'node:timers/promises';
import mysql, { type PoolConnection } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mysqlStore } from '../../../src/mysql/mysql-store.js';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import type { ManagedStore } from '../../../src/store/callback-store.js';
import { providers as onMysql } from '../../mysql/providers/providers.js';
import { useDatabase } from '../../mysql/server.js';
import { change, deferred } from '../../postgres/change.js';
import { type OrmTransaction, orms } from '../../postgres/orms/orms.js';
import { providers as onPostgres } from '../../postgres/providers/providers.js';
import { useSchema } from '../../postgres/server.js';
import { inDatabase } from '../../services/mysql-url.js';
import { outcomeOf } from '../outcome-of.js';

const SCHEMA = 'mp_late_work';

interface Opened {
  readonly store: ManagedStore<unknown>;
  on(tx: unknown): OrmTransaction;
  send(tx: unknown, statement: string): PromiseLike<unknown>;
  close(): Promise<unknown>;
}

interface Engine {
  readonly name: string;
  open(max: number): Promise<Opened>;
}

const overMysql = (tx: PoolConnection): OrmTransaction => ({
  insert: (reference, status) => tx.query('INSERT INTO orders VALUES (?, ?)', [reference, status]),
  fail: () => tx.query('SELECT nothing'),
  async nested(body) {
    await tx.beginTransaction();
    try {
      await body(overMysql(tx));
    } catch (error) {
      await tx.rollback();
      throw error;
    }
    await tx.commit();
  },
});

const postgresUrl = process.env['DATABASE_URL'] ?? '';
const postgresEngines: readonly Engine[] = [
  {
    name: 'pg',
    async open(max) {
      const options = `-c search_path=${SCHEMA}`;
      const pool = new pg.Pool({ connectionString: postgresUrl, options, max });
      const over = orms.find(({ name }) => name === 'pg')?.on as (tx: unknown) => OrmTransaction;
      const send = (tx: unknown, statement: string) => (tx as pg.PoolClient).query(statement);
      return { store: postgresStore(pool), on: over, send, close: () => pool.end() };
    },
  },
  ...Object.entries(onPostgres).map(([name, open]) => ({
    name,
    async open(max: number) {
      const opened = await open(postgresUrl, SCHEMA, { max });
      return { ...opened, store: postgresStore(opened.provider) };
    },
  })),
];

const mysqlUrl = inDatabase(process.env['MYSQL_URL'] ?? 'mysql://127.0.0.1', SCHEMA);
const mysqlEngines: readonly Engine[] = [
  {
    name: 'mysql2',
    async open(max) {
      const pool = mysql.createPool({ uri: mysqlUrl, connectionLimit: max });
      return {
        store: mysqlStore(pool),
        on: (tx) => overMysql(tx as PoolConnection),
        send: (tx, statement) => (tx as PoolConnection).query(statement),
        close: () => pool.end(),
      };
    },
  },
  ...Object.entries(onMysql).map(([name, open]) => ({
    name,
    async open(max: number) {
      const opened = await open(mysqlUrl, { max });
      return { ...opened, store: mysqlStore(opened.provider) };
    },
  })),
];

describe.skipIf(postgresUrl === '')('in Postgres,', () => {
  const { statusesOf } = useSchema(SCHEMA);
  const slowInsert = (reference: string) =>
    `INSERT INTO orders SELECT '${reference}', 'not awaited' FROM pg_sleep(0.1)`;
  describeEngines(postgresEngines, statusesOf, slowInsert);
});

describe.skipIf(!process.env['MYSQL_URL'])('in MySQL,', () => {
  const { statusesOf } = useDatabase(SCHEMA);
  const slowInsert = (reference: string) =>
    `INSERT INTO orders SELECT '${reference}', CONCAT('not awaited', SLEEP(0.1))`;
  describeEngines(mysqlEngines, statusesOf, slowInsert);
});

function describeEngines(
  engines: readonly Engine[],
  statusesOf: (reference: string) => Promise<unknown[]>,
  slowInsert: (reference: string) => string,
): void {
  const cases = engines.flatMap((engine) => [
    { name: `${engine.name}, a pool with free connections`, max: 4, open: engine.open },
    { name: `${engine.name}, a pool of one`, max: 1, open: engine.open },
  ]);
  describe.each(cases)('$name: tx ends with the work', ({ max, open }) => {
    let opened: Opened;
    beforeAll(async () => {
      opened = await open(max);
    });
    afterAll(() => opened.close());

    type Part = (db: OrmTransaction) => Promise<unknown>;
    type End = 'returns' | 'throws';

    /** Delivers with a part of the work that nothing awaits. */
    async function deliver(reference: string, end: End, forgotten: Part) {
      let left: Promise<unknown> = Promise.resolve();
      const { outcome, error } = await opened.store.process(change(reference), async ({ tx }) => {
        const db = opened.on(tx);
        await db.insert(reference, 'in time');
        left = forgotten(db);
        left.catch(() => undefined);
        if (end === 'throws') throw new Error('out of stock');
      });
      expect(outcome).toBe(end === 'throws' ? 'failed' : 'processed');
      if (end === 'throws') expect(error).toStrictEqual(new Error('out of stock'));
      return { left };
    }
    const inTime = (end: End) => (end === 'throws' ? [] : ['in time']);
    const prefix = `${max}-${engines.length}-`;
    const referenceOf = (name: string, end: End) =>
      `${prefix}${cases.findIndex((one) => one.open === open && one.max === max)}-${name}-${end}`;

    it.each<End>(['returns', 'throws'])(
      'sends nothing while the transaction ends, when the work %s',
      async (end) => {
        const reference = referenceOf('ending', end);
        const refused: unknown[] = [];
        let isOver = false;
        const { left } = await deliver(reference, end, async (db) => {
          for (let count = 0; !isOver || count < 5; count += 1) {
            await turn();
            await db.insert(reference, `late ${count}`).then(
              () => refused.push('written'),
              (error) => refused.push(error),
            );
          }
        }).finally(() => {
          isOver = true;
        });
        await left;
        expect(refused).not.toContain('written');
        expect(await statusesOf(reference)).toEqual(inTime(end));
      },
    );

    it.each<End>(['returns', 'throws'])(
      'writes nothing in the transaction of another payment, when the work %s',
      async (end) => {
        const reference = referenceOf('other', end);
        const go = deferred<void>();
        const { left } = await deliver(reference, end, async (db) => {
          await go.promise;
          await db.insert(reference, 'late');
        });
        const other = `${reference}-other`;
        const outcome = await outcomeOf(opened.store, change(other), async ({ tx }) => {
          await opened.on(tx).insert(other, 'paid');
          go.resolve();
          await expect(left).rejects.toThrow();
        });
        expect(outcome).toBe('processed');
        expect(await statusesOf(reference)).toEqual(inTime(end));
        expect(await statusesOf(other)).toEqual(['paid']);
      },
    );

    it('records nothing for work that returns while a query runs, and runs it again', async () => {
      const reference = referenceOf('running', 'returns');
      let left: Promise<unknown> = Promise.resolve();
      const running = outcomeOf(opened.store, change(reference), async ({ tx }) => {
        left = Promise.resolve(opened.send(tx, slowInsert(reference)).then(() => undefined));
        left.catch(() => undefined);
        // An ORM takes some turns until it sends.
        await turn();
      });
      await expect(running).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
      await left.catch(() => undefined);
      expect(await statusesOf(reference)).toEqual([]);
      const again = outcomeOf(opened.store, change(reference), async ({ tx }) => {
        await opened.on(tx).insert(reference, 'awaited');
      });
      expect(await again).toBe('processed');
      expect(await statusesOf(reference)).toEqual(['awaited']);
    });

    it.each(['commits', 'rolls back', 'ends'])(
      'a nested transaction of failed work, which %s then, changes nothing of another payment',
      async (nestedEnd) => {
        const reference = `${referenceOf('nested', 'throws')}-${nestedEnd}`;
        const [begun, go] = [deferred<void>(), deferred<void>()];
        let left: Promise<unknown> = Promise.resolve();
        const failing = outcomeOf(opened.store, change(reference), async ({ tx }) => {
          left = opened.on(tx).nested(async (inner) => {
            await inner.insert(reference, 'nested');
            begun.resolve();
            await go.promise;
            if (nestedEnd === 'rolls back') throw new Error('late');
            if (nestedEnd === 'ends') return;
            await inner.insert(reference, 'late');
          });
          // Prisma on MySQL has none.
          left.catch(begun.resolve);
          await begun.promise;
          throw new Error('out of stock');
        });
        await expect(failing).rejects.toThrow('out of stock');
        const other = `${reference}-other`;
        const outcome = await outcomeOf(opened.store, change(other), async ({ tx }) => {
          await opened.on(tx).insert(other, 'before');
          const write = async (db: OrmTransaction) => {
            await db.insert(other, 'nested before');
            go.resolve();
            await expect(left).rejects.toThrow();
            await db.insert(other, 'nested after');
          };
          await opened
            .on(tx)
            .nested(write)
            .catch(async (error: Error) => {
              if (error.message !== 'Prisma does not nest') throw error;
              await write(opened.on(tx));
            });
        });
        expect(outcome).toBe('processed');
        expect(await statusesOf(other)).toEqual(['before', 'nested after', 'nested before']);
        expect(await statusesOf(reference)).toEqual([]);
      },
    );
  });
}
