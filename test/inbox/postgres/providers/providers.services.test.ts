import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { InboxContext } from '../../../../src/inbox/inbox.js';
import {
  type PostgresInbox,
  postgresInbox,
} from '../../../../src/inbox/postgres/postgres-inbox.js';
import type { OrmTransaction } from '../orms/orms.js';
import { change, heldWork, nothing } from '../payment-change.js';
import { type OpenProvider, type ProviderOptions, providers } from './providers.js';

const url = process.env['DATABASE_URL'] ?? '';
/** What the query that fails here meets. */
const DIVISION_BY_ZERO = '22012';

describe.skipIf(url === '').each(Object.entries(providers))('an inbox on %s', (_, open) => {
  const schema = `mp_provider_${randomUUID().slice(0, 8)}`;
  const observer = new pg.Pool({ connectionString: url, options: `-c search_path=${schema}` });
  const closing: (() => Promise<unknown>)[] = [];
  let opened: OpenProvider;
  let inbox: PostgresInbox<unknown>;

  const openOther = async (options?: ProviderOptions): Promise<OpenProvider> => {
    const other = await open(url, schema, options);
    closing.push(() => other.close());
    return other;
  };
  beforeAll(async () => {
    await observer.query(
      `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (reference text, status text)`,
    );
    opened = await open(url, schema);
    inbox = postgresInbox(opened.provider);
    await inbox.setup();
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  afterAll(async () => {
    await opened.close();
    await observer.query(`DROP SCHEMA ${schema} CASCADE`);
    await observer.end();
  });

  const written = async (reference: string) => {
    const { rows } = await observer.query<{ status: string }>(
      'SELECT status FROM orders WHERE reference = $1 ORDER BY 1',
      [reference],
    );
    return rows.map(({ status }) => status);
  };
  const isRecorded = async (reference: string) => {
    const { rowCount } = await observer.query(
      'SELECT FROM payment_inbox_events WHERE payment_reference = $1',
      [reference],
    );
    return rowCount === 1;
  };
  type Work = (db: OrmTransaction, context: InboxContext<unknown>) => Promise<unknown>;
  const deliver = (reference: string, work: Work, one = inbox) =>
    one.process(change(reference), async (context) => {
      await work(opened.on(context.tx), context);
    });

  it('writes with the record, once', async () => {
    const work: Work = (db) => db.insert('once', 'paid');
    expect(await deliver('once', work)).toBe('processed');
    expect(await deliver('once', work)).toBe('duplicate');
    expect(await written('once')).toEqual(['paid']);
  });

  it('rolls back its write and ours when the work throws', async () => {
    const outOfStock = new Error('out of stock');
    const work: Work = async (db) => {
      await db.insert('thrown', 'paid');
      throw outOfStock;
    };
    await expect(deliver('thrown', work)).rejects.toBe(outOfStock);
    expect(await written('thrown')).toEqual([]);
    expect(await deliver('thrown', (db) => db.insert('thrown', 'again'))).toBe('processed');
    expect(await written('thrown')).toEqual(['again']);
  });

  it.each([
    ['throws', async () => Promise.reject(new Error('out of stock'))],
    ['meets an error of the database', (db: OrmTransaction) => db.fail()],
  ])(
    'undoes its write when it %s and is parked, with others waiting for it',
    async (name, fail) => {
      const reference = `parked-${name}`;
      const failures = { parkAfter: 1, blockParked: true };
      const event = change(reference, 0, { failures });
      const failing = inbox.process(event, async ({ tx }) => {
        await opened.on(tx).insert(reference, 'paid');
        await fail(opened.on(tx));
      });
      await expect(failing).rejects.toThrow();
      expect(await written(reference)).toEqual([]);
      expect(await isRecorded(reference)).toBe(false);
      const listed: unknown[] = [];
      for await (const one of inbox.failedChanges({ paymentReference: event.paymentReference })) {
        listed.push(one);
      }
      expect(listed).toMatchObject([{ attempts: 1, parked: true }]);
    },
  );

  it('takes references of any characters', async () => {
    const reference = `a?b\\?'c":d $1 %s \\`;
    expect(await inbox.process(change(reference), nothing)).toBe('processed');
    expect(await inbox.process(change(reference), nothing)).toBe('duplicate');
    const plain = "?'?:x??";
    expect(await inbox.process(change(plain), nothing)).toBe('processed');
    expect(await isRecorded(plain)).toBe(true);
    expect(await inbox.prune(new Date(0))).toBe(0);
  });

  it('does without the functions of the schema', async () => {
    await observer.query('CREATE TABLE saved AS SELECT FROM orders; DROP TABLE saved');
    const other = await openOther();
    const prefix = 'bare_';
    const bare = postgresInbox(other.provider, { prefix });
    await bare.setup();
    await observer.query('DROP FUNCTION bare_claim_v1, bare_record_v1');
    const event = change("it's bare?");
    const work = async ({ tx }: InboxContext<unknown>) =>
      void (await other.on(tx).insert('bare', 'paid'));
    expect(await bare.process(event, work)).toBe('processed');
    expect(await bare.process(event, work)).toBe('duplicate');
    expect(await written('bare')).toEqual(['paid']);
  });

  it('keeps the rest when a nested transaction fails', async () => {
    const outcome = await deliver('nested', async (db) => {
      await db.insert('nested', 'before');
      const failing = db.nested(async (inner) => {
        await inner.insert('nested', 'undone');
        await inner.fail();
      });
      await expect(failing).rejects.toThrow();
      await db.nested(async (inner) => {
        await inner.insert('nested', 'inner');
      });
      await db.insert('nested', 'then');
    });
    expect(outcome).toBe('processed');
    expect(await written('nested')).toEqual(['before', 'inner', 'then']);
    expect(await isRecorded('nested')).toBe(true);
  });

  it('never processes work that swallows a failed statement', async () => {
    const running = deliver('swallowed', async (db) => {
      await db.insert('swallowed', 'paid');
      await db.fail().catch(() => undefined);
    });
    await expect(running).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('the work continued'),
    });
    expect(await written('swallowed')).toEqual([]);
    expect(await isRecorded('swallowed')).toBe(false);
  });

  it('never processes work whose unawaited query has failed', async () => {
    const outcome = await deliver('dangling', async (db, { tx }) => {
      await db.insert('dangling', 'paid');
      // Fails when the record has been written and before COMMIT is sent, on most drivers.
      const dangling = async () => {
        await opened.send(tx, 'SELECT 1');
        await opened.send(tx, 'SELECT 2');
        await db.fail();
      };
      dangling().catch(() => undefined);
    }).catch(({ code, cause }) => (code === 'STORE_FAILED' ? cause.code : code));
    const isThere = await isRecorded('dangling');
    // postgres.js rejects with the error of the query itself, where that is there before the transaction ends: the inbox
    // wraps it if the work had ended.
    const outcomes = isThere ? ['processed'] : ['TRANSACTION_LOST', DIVISION_BY_ZERO];
    expect(outcomes).toContain(outcome);
    expect(await written('dangling')).toEqual(isThere ? ['paid'] : []);
  });

  it.each(['COMMIT', 'ROLLBACK'])('never processes work that sends %s', async (end) => {
    const reference = `ended-by-${end}`;
    const running = deliver(reference, (_db, { tx }) => opened.send(tx, end));
    await expect(running).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('ended the transaction'),
    });
    expect(await isRecorded(reference)).toBe(false);
  });

  it('fails at once when the connection is lost, aborts the signal, and works again', async () => {
    const held = heldWork<unknown>();
    const running = inbox.process(change('lost'), held.work);
    const lost = expect(running).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    const { signal } = await held.started;
    await observer.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = $1 AND state = 'idle in transaction'`,
      [schema],
    );
    await lost;
    expect(signal.reason).toMatchObject({ code: 'TRANSACTION_LOST' });
    held.finish();
    expect(await inbox.process(change('lost'), nothing)).toBe('processed');
  });

  it('fails when the connection is lost under a statement of the work', async () => {
    const running = deliver('cut', (_db, { tx }) =>
      opened.send(tx, 'SELECT pg_terminate_backend(pg_backend_pid())'),
    );
    await expect(running).rejects.toThrow();
    expect(await isRecorded('cut')).toBe(false);
    expect(await inbox.process(change('cut'), nothing)).toBe('processed');
  });

  it('fails in time when the work hangs, aborts the signal, and ends the session', async () => {
    const impatient = postgresInbox(opened.provider, { transactionTimeoutMs: 200 });
    const held = heldWork<unknown>();
    const running = impatient.process(change('hanging'), held.work);
    const { signal } = await held.started;
    await expect(running).rejects.toMatchObject({
      code: 'INBOX_TIMEOUT',
      message: expect.stringContaining('transactionTimeoutMs'),
    });
    expect(signal.reason).toMatchObject({ code: 'INBOX_TIMEOUT' });
    // The payment is free while the work hangs on.
    expect(await inbox.process(change('hanging', 1), nothing)).toBe('processed');
    for (let open = -1; open !== 0; ) {
      const { rows } = await observer.query(
        `SELECT count(*)::int AS open FROM pg_stat_activity
         WHERE application_name = $1 AND state LIKE 'idle in transaction%'`,
        [schema],
      );
      open = rows[0].open;
    }
  });

  it('gives up waiting for a connection, and then does nothing with it', async () => {
    const other = await openOther({ max: 1 });
    const one = postgresInbox(other.provider, { acquireTimeoutMs: 400 });
    const held = heldWork<unknown>();
    const first = one.process(change('holds'), held.work);
    await held.started;
    let runs = 0;
    const late = one.process(change('waits'), async () => {
      runs += 1;
    });
    await expect(late).rejects.toMatchObject({ code: expect.stringMatching(/INBOX_TIMEOUT|P20/) });
    held.finish();
    expect(await first).toBe('processed');
    expect(await one.process(change('after'), nothing)).toBe('processed');
    expect(runs).toBe(0);
    expect(await isRecorded('waits')).toBe(false);
  });
});
