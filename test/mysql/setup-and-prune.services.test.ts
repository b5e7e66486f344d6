import mysql, { type Pool, type PoolConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mysqlInbox } from '../../src/mysql/inbox-mysql-inbox.js';
import { mysqlInboxSchema, toScript } from '../../src/mysql/inbox-schema.js';
import { inDatabase } from '../services/mysql-url.js';
import { change, heldWork, nothing } from '../postgres/payment-change.js';
import { useDatabase } from './server.js';

const { openPool, query, database } = useDatabase('mp_inbox_setup');
const url = process.env['MYSQL_URL'] ?? '';
const inADay = () => new Date(Date.now() + 86_400_000);

/** A pool that shows each statement to `watch`, and fails it with the error that `watch` returns. */
const openWatched = (watch: (sql: string) => Error | undefined): Pool => {
  const pool = openPool();
  pool.pool.on('connection', (connection) => {
    const core = connection as unknown as Core;
    const send = core.query.bind(core);
    core.query = (...sent) => {
      const [statement] = sent;
      const error = watch(typeof statement === 'string' ? statement : statement.sql);
      const done = sent.at(-1);
      if (error === undefined || typeof done !== 'function') return send(...sent);
      return done(error);
    };
  });
  return pool;
};

/** What a connection of the driver has besides its types. */
interface Core {
  query(...sent: [string | { sql: string }, ...unknown[]]): unknown;
}

const partsOf = async (prefix: string) => {
  const tables = await query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = DATABASE() AND table_name LIKE ? ORDER BY 1`,
    [`${prefix}%`],
  );
  const procedures = await query<{ name: string }>(
    `SELECT routine_name AS name FROM information_schema.routines
     WHERE routine_schema = DATABASE() AND routine_name LIKE ? ORDER BY 1`,
    [`${prefix}%`],
  );
  return [...tables, ...procedures].map(({ name }) => name.slice(prefix.length));
};
const ALL = ['events', 'failures', 'locks', 'claim_v1', 'record_v1'];

describe.skipIf(!url)('setup', () => {
  it('makes everything when eight processes call it at once', async () => {
    const pools = Array.from({ length: 8 }, () => openPool({ connectionLimit: 1 }));
    await Promise.all(pools.map((pool) => pool.query('SELECT 1')));
    for (const round of [1, 2]) {
      const prefix = `round_${round}_`;
      await Promise.all(pools.map((pool) => mysqlInbox(pool, { prefix }).setup()));
      expect(await partsOf(prefix)).toEqual(ALL);
      const [counted] = await query(`SELECT COUNT(*) AS count FROM ${prefix}locks`);
      expect(counted).toEqual({ count: 65_536 });
    }
  });

  it('does not wait for a callback that is being processed', async () => {
    const held = heldWork();
    const running = mysqlInbox(openPool()).process(change('at-start'), held.work);
    await held.started;
    await mysqlInbox(openPool()).setup();
    held.finish();
    expect(await running).toBe('processed');
  });

  it('says so when the table is one of another version', async () => {
    await query('CREATE TABLE old_events (payment_reference varchar(9))');
    await expect(mysqlInbox(openPool(), { prefix: 'old_' }).setup()).rejects.toMatchObject({
      code: 'MISSING_TABLES',
      cause: { errno: 1054 },
    });
  });

  it('makes the inbox use the procedures that it lacked before', async () => {
    const prefix = 'lacking_';
    await mysqlInbox(openPool(), { prefix }).setup();
    for (const name of ['claim', 'record']) await query(`DROP PROCEDURE ${prefix}${name}_v1`);
    const sent: string[] = [];
    const inbox = mysqlInbox(
      openWatched((sql) => void sent.push(sql)),
      { prefix },
    );
    const calls = () => sent.splice(0).filter((sql) => sql.startsWith('CALL')).length;
    expect(await inbox.process(change('lacking', 1), nothing)).toBe('processed');
    expect(calls()).toBe(1);
    expect(await inbox.process(change('lacking', 2), nothing)).toBe('processed');
    expect(calls()).toBe(0);
    await inbox.setup();
    expect(await inbox.process(change('lacking', 3), nothing)).toBe('processed');
    expect(calls()).toBe(2);
  });

  it('fails when the server refuses a procedure for another reason than missing rights', async () => {
    const pool = openWatched((sql) =>
      sql.includes('CREATE PROCEDURE')
        ? Object.assign(new Error('read only'), { errno: 1290, sqlState: 'HY000' })
        : undefined,
    );
    await expect(mysqlInbox(pool, { prefix: 'refused_' }).setup()).rejects.toMatchObject({
      code: 'STORE_FAILED',
      cause: { errno: 1290 },
    });
  });

  it('explains that a session with sql_mode ORACLE uses another syntax', async ({ skip }) => {
    const [server] = await query<{ version: string }>('SELECT VERSION() AS version');
    skip(!server?.version.includes('MariaDB'), 'a mode of MariaDB alone');
    const pool = openPool({}, ["SET SESSION sql_mode = 'ORACLE'"]);
    await expect(mysqlInbox(pool, { prefix: 'oracle_' }).setup()).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringMatching(/the SQL of the inbox, .* Remove ORACLE from sql_mode/),
      cause: { errno: 1064 },
    });
  });

  it('has its statements for migrations, one by one and as a script', async () => {
    for (const statement of mysqlInboxSchema({ prefix: 'listed_' })) await query(statement);
    const pool = openPool({ multipleStatements: true });
    // The command line's own words.
    const script = toScript(mysqlInboxSchema({ prefix: 'script_' }))
      .replaceAll(/^DELIMITER .*\n/gm, '')
      .replaceAll(' //', ';');
    await pool.query(script);
    for (const prefix of ['listed_', 'script_']) {
      expect(await partsOf(prefix)).toEqual(ALL);
      const inbox = mysqlInbox(pool, { prefix });
      await inbox.setup();
      expect(await inbox.process(change(prefix), nothing)).toBe('processed');
    }
  });
});

describe.skipIf(!url)('a user who may not create anything', () => {
  const user = 'mp_inbox_setup_app';
  const account = `'${user}'@'%'`;
  const asUser = () => {
    const named = new URL(inDatabase(url, database));
    named.username = user;
    named.password = 'app';
    return mysql.createPool(named.href);
  };
  const pools: ReturnType<typeof asUser>[] = [];
  const open = () => {
    const pool = asUser();
    pools.push(pool);
    return pool;
  };

  beforeAll(async () => {
    await query(`DROP USER IF EXISTS ${account}`);
    await query(`CREATE USER ${account} IDENTIFIED BY 'app'`);
    for (const table of ['events', 'locks', 'failures']) {
      await query(
        `GRANT SELECT, INSERT, UPDATE, DELETE ON ${database}.payment_inbox_${table} TO ${account}`,
      );
    }
  });
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await query(`DROP USER ${account}`);
  });

  it('may call setup where a migration has made them, and process, without the procedures', async () => {
    const inbox = mysqlInbox<PoolConnection>(open());
    await inbox.setup();
    expect(await inbox.process(change('user'), nothing)).toBe('processed');
    expect(await inbox.process(change('user'), nothing)).toBe('duplicate');
    await query(`GRANT EXECUTE ON ${database}.* TO ${account}`);
    expect(await mysqlInbox(open()).process(change('user', 1), nothing)).toBe('processed');
  });

  it('is refused by the server where they are missing', async () => {
    const inbox = mysqlInbox(open(), { prefix: 'not_migrated_' });
    await expect(inbox.setup()).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringMatching(/^The database, or the connection to it, failed/),
      cause: { errno: 1142 },
    });
  });
});

describe.skipIf(!url)('prune', () => {
  const inbox = mysqlInbox<PoolConnection>(openPool());
  const olden = (reference: string, key: string, days: number) =>
    query(
      'UPDATE payment_inbox_events SET processed_at_us = processed_at_us - ? * 86400000000 WHERE payment_reference = ? AND event_key = ?',
      [days, reference, key],
    );
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
  const recorded = async (reference: string) =>
    (await query('SELECT 1 FROM payment_inbox_events WHERE payment_reference = ?', [reference]))
      .length;

  it('forgets events from before, and keeps the mark of a payment that changed since', async () => {
    await inbox.process(change('pruned', 3), nothing);
    await inbox.process(change('pruned', 1, { processStale: true }), nothing);
    await inbox.process(change('pruned', 2, { processStale: true }), nothing);
    await olden('pruned', change('pruned', 3).key, 9);
    await olden('pruned', change('pruned', 1).key, 8);
    expect(await inbox.prune(daysAgo(8.5))).toBe(1);
    expect(await recorded('pruned')).toBe(2);
    expect(await inbox.prune(daysAgo(7))).toBe(1);
    // Forgotten as an event, yet known as the latest.
    expect(await inbox.process(change('pruned', 2.5), nothing)).toBe('stale');
    expect(await inbox.process(change('pruned', 2), nothing)).toBe('duplicate');
  });

  it('forgets a payment without a change since', async () => {
    await inbox.process(change('forgotten', 2), nothing);
    await olden('forgotten', change('forgotten', 2).key, 9);
    expect(await inbox.prune(daysAgo(8))).toBe(1);
    expect(await inbox.process(change('forgotten', 1), nothing)).toBe('processed');
  });

  it('leaves a payment whose change is being processed its mark, and waits for nothing', async () => {
    await inbox.process(change('in-progress', 1), nothing);
    const held = heldWork<PoolConnection>();
    const running = inbox.process(change('in-progress', 2), held.work);
    await held.started;
    expect(await inbox.prune(inADay())).toBeGreaterThan(0);
    held.finish();
    expect(await running).toBe('processed');
    expect(await inbox.process(change('in-progress', 1), nothing)).toBe('stale');
  });

  it('may be called by several processes at once: each event is counted once', async () => {
    await inbox.prune(inADay());
    await query(
      `INSERT INTO payment_inbox_events SELECT CONCAT('many-', lock_number % 700), CONCAT("quote'", lock_number), 0, 0, 0
       FROM payment_inbox_locks LIMIT 3000`,
    );
    const counts = await Promise.all([1, 2, 3].map(() => inbox.prune(inADay())));
    const left = await inbox.prune(inADay());
    expect(counts.reduce((sum, count) => sum + count, left)).toBe(3000);
    expect(await query('SELECT 1 FROM payment_inbox_events')).toEqual([]);
  });

  it.each([undefined, new Date(Number.NaN), '2026-01-01'])('does not take %s', async (value) => {
    await expect(inbox.prune(value as never)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'olderThan',
    });
  });
});

describe.skipIf(!url)('prune of failed changes', () => {
  it('deletes those that last failed before, and those of processed changes', async () => {
    const inbox = mysqlInbox(openPool(), { prefix: 'failing_' });
    await inbox.setup();
    const fail = (reference: string) =>
      inbox
        .process(change(reference), async () => {
          throw new Error('out of stock');
        })
        .catch(() => undefined);
    for (const reference of ['old', 'new', 'done']) await fail(reference);
    await query(
      "UPDATE failing_failures SET last_failed_at_us = 0 WHERE payment_reference = 'old'",
    );
    // As when it was processed by another process while it failed here.
    await query(
      "INSERT INTO failing_events SELECT payment_reference, event_key, 0, 0, last_failed_at_us FROM failing_failures WHERE payment_reference = 'done'",
    );
    expect(await inbox.prune(new Date(Date.now() - 60_000))).toBe(2);
    const left: string[] = [];
    for await (const failed of inbox.failedChanges()) left.push(failed.paymentReference);
    expect(left).toEqual(['new']);
  });
});
