import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { ContractService } from '../../../src/outbox/contract/service.js';
import { postgresOutbox } from '../../../src/outbox/postgres/postgres-outbox.js';
import { expectToListWhatLiesAhead } from '../clock-set-back.js';
import { order } from '../settling-scene.js';
import { unusedClient } from '../unused-client.js';
import { useSchema } from './server.js';

describe.skipIf(!process.env['DATABASE_URL'])('the connections of postgresOutbox', () => {
  const { openPool, observer, schema, transaction } = useSchema();

  it('sends nothing on one that was released with its transaction open, and closes it', async () => {
    const service = new ContractService();
    const pool = openPool({ max: 1 });
    const outbox = postgresOutbox(pool, { client: service.client });
    const client = await pool.connect();
    await client.query('BEGIN');
    client.release();
    await expect(outbox.create(order('order-1'))).rejects.toMatchObject({
      code: 'STORE_FAILED',
      cause: { message: expect.stringContaining('a transaction is open') },
    });
    expect(service.requestsFor('order-1')).toEqual([]);
    expect(await outbox.create(order('order-1'))).toMatchObject({ state: 'created' });
    expect(service.requestsFor('order-1')).toHaveLength(1);
  });

  it.each([
    ['off', 'on'],
    ['local', 'local'],
  ])('commits claims, where synchronous_commit is %s, with %s', async (setting, expected) => {
    const service = new ContractService();
    const prefix = `commits_${setting}_`;
    const pool = openPool({ options: `-c synchronous_commit=${setting}` });
    const outbox = postgresOutbox<pg.PoolClient>(pool, { client: service.client, prefix });
    await outbox.setup();
    // Deferred, it runs at the commit.
    await observer.query(`CREATE TABLE ${prefix}seen (state text, setting text);
      CREATE FUNCTION ${prefix}note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO ${schema}.${prefix}seen VALUES (NEW.state, current_setting('synchronous_commit'));
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON ${prefix}payments
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${prefix}note()`);
    service.answer('order-new', 422);
    await outbox.create(order('order-new')).catch(() => undefined);
    await outbox.create(order('order-new'));
    await transaction((tx) => outbox.record(order('order-recorded'), { tx }));
    await outbox.send('order-recorded');
    const { rows } = await observer.query(
      `SELECT setting FROM ${prefix}seen WHERE state = 'sending'`,
    );
    expect(rows).toEqual(Array(3).fill({ setting: expected }));
  });

  it('sends nothing by a pool that hides what was changed', async () => {
    const service = new ContractService();
    const pool = openPool({ max: 1 });
    const hiding = {
      async connect() {
        const client = await pool.connect();
        const query = async (text: string) => ({ rows: (await client.query(text)).rows });
        const release = client.release.bind(client);
        return {
          query,
          release,
          on: client.on.bind(client),
          removeListener: client.off.bind(client),
        };
      },
    };
    const outbox = postgresOutbox(hiding as never, { client: service.client });
    await expect(outbox.create(order('order-1'))).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('a wrapper of the pool'),
    });
    expect(service.requestsFor('order-1')).toEqual([]);
  });

  it('records in no transaction but one that is open', async () => {
    const pool = openPool({ max: 2 });
    const outbox = postgresOutbox<pg.PoolClient>(pool, { client: unusedClient });
    const client = await pool.connect();
    const recording = (tx: unknown) => outbox.record(order('order-2'), { tx: tx as pg.PoolClient });
    for (const [tx, received] of [
      [undefined, 'tx is missing'],
      [null, 'received null'],
      [pool, 'a pool'],
      [client, 'a client without a transaction'],
      ['BEGIN', 'without query()'],
    ] as const) {
      await expect(recording(tx)).rejects.toMatchObject({
        option: 'tx',
        message: expect.stringContaining(received),
      });
    }
    expect(await outbox.get('order-2')).toBeUndefined();
    await client.query('BEGIN');
    await recording(client);
    await client.query('COMMIT');
    expect(await outbox.get('order-2')).toMatchObject({ state: 'recorded' });
    client.release();
  });

  it('takes back a claim that waited for too long, which Postgres would grant later to no sender', async () => {
    const service = new ContractService();
    const outbox = postgresOutbox<pg.PoolClient>(openPool(), {
      client: service.client,
      commandTimeoutMs: 200,
    });
    const patient = postgresOutbox(openPool(), { client: service.client });
    const waiting = async () => {
      const { rows } = await observer.query(
        `SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`,
        [schema],
      );
      return rows.length;
    };
    const undone = new Error('the order was not stored');
    let other: Promise<unknown> | undefined;
    const call = transaction(async (tx) => {
      await outbox.record(order('order-3'), { tx });
      await outbox.record(order('order-patient'), { tx });
      other = patient.create(order('order-patient'));
      await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
      await expect(outbox.create(order('order-3'))).rejects.toMatchObject({
        code: 'OUTBOX_TIMEOUT',
      });
      // Those of Postgres that wait are not told that their connection is closed.
      await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
      throw undone;
    });
    await expect(call).rejects.toBe(undone);
    expect(await other).toMatchObject({ state: 'created', attempts: 1 });
    expect(await outbox.get('order-3')).toBeUndefined();
    expect(await outbox.create(order('order-3'))).toMatchObject({ state: 'created', attempts: 1 });
    expect(service.requestsFor('order-3')).toHaveLength(1);
  });

  it('says that its tables are those of an inbox with the same prefix', async () => {
    const pool = openPool();
    await postgresInbox(pool, { prefix: 'shop_' }).setup();
    const outbox = postgresOutbox(pool, { client: unusedClient, prefix: 'shop_' });
    for (const step of [outbox.setup(), outbox.create(order('order-4'))]) {
      await expect(step).rejects.toMatchObject({
        code: 'MISSING_TABLES',
        message: expect.stringContaining('an inbox with the same prefix'),
        cause: { code: '42703' },
      });
    }
    await postgresOutbox(pool, { client: unusedClient, prefix: 'store_' }).setup();
    const inbox = postgresInbox(pool, { prefix: 'store_' });
    await inbox.setup();
    await expect(inbox.prune(new Date())).rejects.toMatchObject({
      code: 'MISSING_TABLES',
      message: expect.stringContaining('an outbox with the same prefix'),
    });
  });

  it('lists and sends what was stored before its clock was set back', async () => {
    await expectToListWhatLiesAhead(
      (client) => postgresOutbox(observer, { client }),
      () =>
        observer.query(
          "UPDATE payment_outbox_payments SET sent_at = sent_at + interval '1 h', changed_at = changed_at + interval '1 h'",
        ),
    );
  });
});
