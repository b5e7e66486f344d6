import mysql, { type Pool, type PoolConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mysqlSchema, mysqlStore } from '../../src/mysql/mysql-store.js';
import { change, heldWork, nothing } from '../postgres/change.js';
import { inDatabase } from '../services/mysql-url.js';
import { isCurrent } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';
import { useDatabase } from './server.js';

const { openPool, query, database } = useDatabase('mp_store_setup');
const url = process.env['MYSQL_URL'] ?? '';
const inADay = () => new Date(Date.now() + 86_400_000);

const tablesOf = async (prefix: string) => {
  const tables = await query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = DATABASE() AND table_name LIKE ? ORDER BY 1`,
    [`${prefix}%`],
  );
  return tables.map(({ name }) => name.slice(prefix.length));
};
const ALL = ['changes', 'failed_changes', 'payments', 'second_payments'];

describe.skipIf(!url)('setup', () => {
  it('makes everything when eight processes call it at once', async () => {
    const pools = Array.from({ length: 8 }, () => openPool({ connectionLimit: 1 }));
    await Promise.all(pools.map((pool) => pool.query('SELECT 1')));
    for (const round of [1, 2]) {
      const prefix = `round_${round}_`;
      await Promise.all(pools.map((pool) => mysqlStore(pool, { prefix }).setup()));
      expect(await tablesOf(prefix)).toEqual(ALL);
    }
  });

  it('does not wait for a callback that is being processed', async () => {
    const held = heldWork();
    const running = outcomeOf(mysqlStore(openPool()), change('at-start'), held.work);
    await held.started;
    await mysqlStore(openPool()).setup();
    held.finish();
    expect(await running).toBe('processed');
  });

  it('says so when the table is one of another version', async () => {
    await query('CREATE TABLE old_changes (reference_number varchar(9))');
    await expect(mysqlStore(openPool(), { prefix: 'old_' }).setup()).rejects.toMatchObject({
      code: 'MISSING_TABLES',
      message: expect.stringContaining('merchant_payment_reference'),
    });
  });

  it('adds a column that may be empty, and an index, where they alone are missing', async () => {
    const store = mysqlStore(openPool(), { prefix: 'lacking_' });
    await store.setup();
    const shape = () =>
      query(
        `SELECT table_name, column_name, 'column' AS kind FROM information_schema.columns
         WHERE table_schema = DATABASE() AND table_name LIKE 'lacking%'
         UNION ALL SELECT table_name, index_name, 'index' FROM information_schema.statistics
         WHERE table_schema = DATABASE() AND table_name LIKE 'lacking%' ORDER BY 1, 2, 3`,
      );
    const before = await shape();
    for (const change of [
      'lacking_payments DROP COLUMN paid_by, DROP KEY state',
      'lacking_changes DROP KEY processed',
      'lacking_failed_changes DROP COLUMN raw_body, DROP KEY age',
    ]) {
      await query(`ALTER TABLE ${change}`);
    }
    expect(await shape()).not.toEqual(before);
    await store.setup();
    expect(await shape()).toEqual(before);
    expect(await outcomeOf(store, change('lacking'), nothing)).toBe('processed');
  });

  it('explains that a session with sql_mode ORACLE uses another syntax', async ({ skip }) => {
    const [server] = await query<{ version: string }>('SELECT VERSION() AS version');
    skip(!server?.version.includes('MariaDB'), 'a mode of MariaDB alone');
    const pool = openPool({}, ["SET SESSION sql_mode = 'ORACLE'"]);
    await expect(mysqlStore(pool, { prefix: 'oracle_' }).setup()).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringMatching(/sql_mode contains ORACLE/),
      cause: { errno: 1064 },
    });
  });

  it('explains that the database does not exist', async () => {
    const pool = mysql.createPool(inDatabase(url, 'mp_no_such_database'));
    const store = mysqlStore(pool);
    const missing = {
      code: 'MISSING_TABLES',
      message: expect.stringContaining('create the database'),
      cause: { errno: 1049 },
    };
    await expect(store.setup()).rejects.toMatchObject(missing);
    await expect(outcomeOf(store, change('nowhere'), nothing)).rejects.toMatchObject(missing);
    await pool.end();
  });

  it('has its statements for migrations, one by one and as a script', async () => {
    for (const statement of mysqlSchema({ prefix: 'listed_' })) await query(statement);
    const pool = openPool({ multipleStatements: true });
    await pool.query(mysqlSchema({ prefix: 'script_' }).join(';\n'));
    for (const prefix of ['listed_', 'script_']) {
      expect(await tablesOf(prefix)).toEqual(ALL);
      const store = mysqlStore(pool, { prefix });
      await store.setup();
      expect(await outcomeOf(store, change(prefix), nothing)).toBe('processed');
    }
  });

  it.each([
    ['big5', 'BIG5_CHINESE_CI', ['SET NAMES big5']],
    ['gbk', 'GBK_CHINESE_CI', ['SET NAMES gbk']],
    ['utf8mb4', 'UTF8MB4_BIN', []],
    ['latin1', 'LATIN1_SWEDISH_CI', []],
  ])(
    'on connections in %s, a key with all characters of ASCII is one',
    async (name, charset, statements) => {
      const store = mysqlStore(openPool({ charset }, statements));
      await store.setup();
      const key = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index));
      const one = change(`charset-${name}`, 0, { key });
      expect(await outcomeOf(store, one, nothing)).toBe('processed');
      expect(await outcomeOf(store, one, nothing)).toBe('duplicate');
    },
  );
});

describe.skipIf(!url)('a user who may not create anything', () => {
  const user = 'mp_store_setup_app';
  const account = `'${user}'@'%'`;
  const pools: Pool[] = [];
  const open = (name = database) => {
    const named = new URL(inDatabase(url, name));
    named.username = user;
    named.password = 'app';
    const pool = mysql.createPool(named.href);
    pools.push(pool);
    return pool;
  };

  beforeAll(async () => {
    await query(`DROP USER IF EXISTS ${account}`);
    await query(`CREATE USER ${account} IDENTIFIED BY 'app'`);
    for (const table of ALL) {
      await query(
        `GRANT SELECT, INSERT, UPDATE, DELETE ON ${database}.payment_store_${table} TO ${account}`,
      );
    }
  });
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await query(`DROP USER ${account}`);
  });

  it('may call setup where a migration has made the tables, process and prune', async () => {
    await mysqlStore(open('information_schema'), { prefix: `${database}.payment_store_` }).setup();
    const store = mysqlStore<PoolConnection>(open());
    await store.setup();
    expect(await outcomeOf(store, change('user'), nothing)).toBe('processed');
    expect(await outcomeOf(store, change('user'), nothing)).toBe('duplicate');
    expect(await store.prune(new Date(0))).toBe(0);
  });

  it('is told what to run where a column is missing', async () => {
    await query(`ALTER TABLE ${database}.payment_store_payments DROP COLUMN found_status`);
    const refused = await mysqlStore(open())
      .setup()
      .catch((error: Error) => error.message);
    const statement = /Run this as a role that may: (ALTER TABLE .* ADD COLUMN found_status .*);$/;
    expect(refused).toMatch(statement);
    await query(String(statement.exec(String(refused))?.[1]));
    await mysqlStore(open()).setup();
  });

  it('is told what to run where a table is missing', async () => {
    const store = mysqlStore(open(), { prefix: 'not_migrated_' });
    await expect(store.setup()).rejects.toMatchObject({
      code: 'MISSING_TABLES',
      message: expect.stringMatching(/CREATE TABLE IF NOT EXISTS .*not_migrated_payments` \( \w/),
      cause: { errno: 1142 },
    });
    await expect(outcomeOf(store, change('user'), nothing)).rejects.toMatchObject({
      code: expect.stringMatching(/^(STORE_FAILED|MISSING_TABLES)$/),
    });
  });

  it('is refused where it may not write, and nothing runs', async () => {
    await query(`REVOKE INSERT ON ${database}.payment_store_payments FROM ${account}`);
    const running = outcomeOf(mysqlStore(open()), change('may-not'), () =>
      Promise.reject(new Error('the work ran')),
    );
    await expect(running).rejects.toMatchObject({ code: 'STORE_FAILED', cause: { errno: 1142 } });
  });
});

describe.skipIf(!url)('prune', () => {
  const store = mysqlStore<PoolConnection>(openPool());

  it('leaves an order whose change is being processed its mark, and waits for nothing', async () => {
    await outcomeOf(store, change('in-progress', 1), nothing);
    const held = heldWork<PoolConnection>();
    const running = outcomeOf(store, change('in-progress', 2), held.work);
    await held.started;
    expect(await store.prune(inADay())).toBeGreaterThan(0);
    held.finish();
    expect(await running).toBe('processed');
    expect(await isCurrent(store, change('in-progress', 1))).toBe(false);
  });

  it('may be called by several processes at once: each change is counted once', async () => {
    await store.prune(inADay());
    const rows = Array.from({ length: 3000 }, (_, index) => [
      `many-${index % 700}`,
      'payment',
      `quote'${index}`,
      0,
      0,
      0,
    ]);
    await query('INSERT INTO payment_store_changes VALUES ?', [rows]);
    const counts = await Promise.all([1, 2, 3].map(() => store.prune(inADay())));
    const left = await store.prune(inADay());
    expect(counts.reduce((sum, count) => sum + count, left)).toBe(3000);
    expect(await query('SELECT 1 FROM payment_store_changes')).toEqual([]);
  });
});
