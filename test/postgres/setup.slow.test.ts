import { readdirSync, readFileSync } from 'node:fs';
import type { PGlite } from '@electric-sql/pglite';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/postgres/pool.js';
import { postgresSchema, postgresStore } from '../../src/postgres/postgres-store.js';
import { ContractService } from '../contract/store/service.js';
import { emptyPglite } from '../pglite.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, collect, nothing, order } from './change.js';

let database: PGlite;
beforeAll(async () => {
  database = await emptyPglite();
});
beforeEach(() => database.exec('RESET ROLE; DROP SCHEMA public CASCADE; CREATE SCHEMA public'));

/** What is in the schema: columns with their types, indexes, primary keys. */
async function shape(): Promise<unknown[]> {
  const { rows } = await database.query(`
    SELECT attrelid::regclass || '.' || attname || ' ' || atttypid::regtype || ' ' || attnotnull || ' ' || attcollation AS part
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`);
  return rows.map((row) => (row as { part: string }).part);
}

/** The columns of a database, and whether each may be NULL. */
async function columns() {
  const { rows } = await database.query<{ table: string; column: string; optional: boolean }>(
    `SELECT table_name AS table, column_name AS column, is_nullable = 'YES' AS optional
     FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, ordinal_position`,
  );
  return rows;
}

/** Does everything that writes and reads with a store. */
async function useAll(): Promise<void> {
  const service = new ContractService();
  const store = postgresStore<Queryable>(database, { client: service.client });
  const failures = { getRawBody: () => new Uint8Array([1]) };
  expect(await outcomeOf(store, change('order', 1), nothing)).toBe('processed');
  expect(await outcomeOf(store, change('order', 1), nothing)).toBe('duplicate');
  const failing = outcomeOf(store, change('failed', 0, { failures }), () =>
    Promise.reject('broken'),
  );
  await expect(failing).rejects.toBe('broken');
  service.answer('lost', 'answer-lost');
  expect(await store.create(order('created'))).toMatchObject({ state: 'created' });
  expect(await store.create(order('lost'))).toMatchObject({ state: 'unresolved' });
  const second = change('created', 0, { status: 'paid', referenceNumber: 'another' });
  expect(await outcomeOf(store, second, nothing)).toBe('processed');
  await database.query(
    'UPDATE payment_store_payments SET lease_until_ms = 0, sent_at_ms = sent_at_ms - 900000',
  );
  const kinds = (await collect(store.attention({ olderThanMs: 0 }))).map(({ kind }) => kind);
  expect(kinds).toEqual(['unresolved', 'second-payment', 'failed-change', 'no-callback']);
  expect(await store.prune(new Date(Date.now() + 60_000))).toBeGreaterThan(1);
}

describe('setup', () => {
  it('makes what the schema has, and later changes nothing and needs no right to create', async () => {
    await database.exec(postgresSchema());
    const wanted = await shape();
    await database.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await postgresStore(database).setup();
    expect(await shape()).toEqual(wanted);
    await database.exec(`DROP ROLE IF EXISTS reader; CREATE ROLE reader;
      GRANT USAGE ON SCHEMA public TO reader; SET ROLE reader`);
    await postgresStore(database).setup();
    await database.exec('RESET ROLE; DROP OWNED BY reader; DROP ROLE reader');
    expect(await shape()).toEqual(wanted);
  });

  it('keeps what is stored', async () => {
    const store = postgresStore(database);
    await store.setup();
    await outcomeOf(store, change('kept'), nothing);
    await store.setup();
    expect(await outcomeOf(store, change('kept'), nothing)).toBe('duplicate');
  });

  it('adds each optional column that a table lacks, and names each other one', async () => {
    await postgresStore(database).setup();
    const wanted = await shape();
    const all = await columns();
    expect(all.length).toBeGreaterThan(30);
    for (const { table, column, optional } of all) {
      if (optional) {
        await database.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`);
        await postgresStore(database).setup();
      } else {
        await database.exec(`ALTER TABLE ${table} RENAME COLUMN ${column} TO lacking`);
        const message = new RegExp(`"${table}" has no column ${column}.*Nothing was changed`);
        await expect(postgresStore(database).setup()).rejects.toMatchObject({
          code: 'MISSING_TABLES',
          message: expect.stringMatching(message),
        });
        await database.exec(`ALTER TABLE ${table} RENAME COLUMN lacking TO ${column}`);
      }
      expect(await shape(), `${table}.${column}`).toEqual(wanted);
    }
  });

  it('makes each index that a table lacks', async () => {
    await postgresStore(database).setup();
    const wanted = await shape();
    const { rows } = await database.query<{ index: string }>(
      `SELECT indexrelid::regclass::text AS index
       FROM pg_index WHERE indrelid::regclass::text LIKE 'payment_store%' AND NOT indisprimary`,
    );
    expect(rows).toHaveLength(3);
    for (const { index } of rows) {
      await database.exec(`DROP INDEX ${index}`);
      expect(await shape()).not.toEqual(wanted);
      await postgresStore(database).setup();
      expect(await shape(), index).toEqual(wanted);
    }
    await useAll();
  });

  it('makes each table that is missing', async () => {
    await postgresStore(database).setup();
    const wanted = await shape();
    for (const table of new Set((await columns()).map((column) => column.table))) {
      await database.exec(`DROP TABLE ${table}`);
      await postgresStore(database).setup();
      expect(await shape()).toEqual(wanted);
    }
    await useAll();
  });

  it('refuses tables of another kind under its names, and changes nothing', async () => {
    await database.exec('CREATE TABLE payment_store_payments (id int PRIMARY KEY)');
    const before = await shape();
    await expect(postgresStore(database).setup()).rejects.toMatchObject({
      code: 'MISSING_TABLES',
      message: expect.stringContaining('Set another prefix'),
    });
    expect(await shape()).toEqual(before);
  });
});

describe('the schema of a release', () => {
  const folder = 'test/postgres/released-schemas';
  const releases = readdirSync(folder).map((file) => file.replace('.sql', ''));
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

  it('is kept here for every release, and is now that of the version in package.json', () => {
    expect(releases).toContain(version);
    expect(readFileSync(`${folder}/${version}.sql`, 'utf8')).toBe(postgresSchema());
    expect(readFileSync('src/postgres/schema.sql', 'utf8')).toBe(postgresSchema());
  });

  it.each(releases)('%s becomes today’s by setup(), with what is stored', async (release) => {
    await database.exec(postgresSchema());
    const wanted = await shape();
    await database.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await database.exec(readFileSync(`${folder}/${release}.sql`, 'utf8'));
    const store = postgresStore(database);
    await outcomeOf(store, change('before'), nothing);
    await store.setup();
    expect(await shape()).toEqual(wanted);
    expect(await outcomeOf(store, change('before'), nothing)).toBe('duplicate');
    await useAll();
  });
});
