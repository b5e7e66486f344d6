import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { withSavepoints } from '../../src/postgres/savepoints.js';

type Callback = (error: unknown, result?: { rows: unknown[] }) => void;

/** Records what is sent, and fails the query in `failing`. */
class NotingClient extends EventEmitter {
  readonly sent: unknown[] = [];
  failing: string | undefined;
  async query<Row>(...args: unknown[]): Promise<{ rows: Row[] }> {
    this.sent.push(args.length === 1 ? args[0] : args);
    await nextTurn();
    if (args[0] === this.failing) throw new Error('refused by Postgres');
    return { rows: [] };
  }
  release(): void {
    this.sent.push('release()');
  }
}

type Loose = { query(...args: unknown[]): Promise<unknown> };

/** Runs the work on a client, and returns what was sent. */
async function sentBy(work: (tx: Loose, client: NotingClient) => Promise<unknown>) {
  const client = new NotingClient();
  let failure: unknown;
  await withSavepoints(client, async (tx) => void (await work(tx as Loose, client))).catch(
    (error) => {
      failure = error;
    },
  );
  return { sent: client.sent, failure };
}

const ONE = 'SAVEPOINT merchant_payments_1';
const RELEASE_ONE = 'RELEASE SAVEPOINT merchant_payments_1';
const UNDO_ONE = 'ROLLBACK TO SAVEPOINT merchant_payments_1';
const lost = (message: string) => ({
  code: 'TRANSACTION_LOST',
  message: expect.stringContaining(message),
});

describe('a transaction that the work begins', () => {
  it.each([
    'BEGIN',
    'begin',
    ' Begin ; ',
    'BEGIN WORK',
    'begin transaction',
    'BEGIN\n  TRANSACTION',
    'START TRANSACTION',
    'start transaction;',
    'BEGIN READ ONLY',
    'begin transaction read write, not deferrable',
    'BEGIN ISOLATION LEVEL READ COMMITTED',
    '/* trace */ BEGIN',
    '-- trace\nBEGIN',
    "BEGIN /*traceparent='00-1'*/",
    '/* one *//* two */BEGIN-- three',
    '-- a mark /* within\nBEGIN',
    '/* a mark -- within */ BEGIN',
    '/**/BEGIN',
    '-- to the end of the line */\nBEGIN',
  ])('by %j is a savepoint', async (text) => {
    const { sent, failure } = await sentBy(async (tx) => {
      await tx.query(text);
      await tx.query('COMMIT');
    });
    expect(sent).toEqual([ONE, RELEASE_ONE]);
    expect(failure).toBeUndefined();
  });

  it.each(['COMMIT', 'commit;', 'END', 'end work', 'COMMIT TRANSACTION', 'commit and no chain'])(
    'and ends by %j keeps what it did',
    async (text) => {
      const { sent, failure } = await sentBy(async (tx) => {
        await tx.query('BEGIN');
        await tx.query(text);
      });
      expect(sent).toEqual([ONE, RELEASE_ONE]);
      expect(failure).toBeUndefined();
    },
  );

  it.each(['ROLLBACK', 'rollback;', 'ABORT', 'ROLLBACK WORK', 'abort transaction and no chain'])(
    'and ends by %j undoes what it did',
    async (text) => {
      const { sent, failure } = await sentBy(async (tx) => {
        await tx.query('BEGIN');
        await tx.query(text);
      });
      expect(sent).toEqual([ONE, UNDO_ONE]);
      expect(failure).toBeUndefined();
    },
  );

  it('is refused while another is open, whose work its ROLLBACK would undo', async () => {
    const { sent, failure } = await sentBy(async (tx) => {
      await tx.query('BEGIN');
      await tx.query('BEGIN').catch(() => undefined);
      await tx.query('COMMIT');
    });
    expect(sent).toEqual([ONE, RELEASE_ONE]);
    expect(failure).toMatchObject(lost('another transaction on tx is open'));
  });

  it.each([
    ['a config', { text: 'begin', types: {}, rowMode: 'array', name: 'begin' }, []],
    ['a text with values', 'BEGIN', []],
  ])('is known in %s', async (_, config, values) => {
    const { sent } = await sentBy(async (tx) => {
      await tx.query(config, values);
      await tx.query('COMMIT');
    });
    expect(sent).toEqual([ONE, RELEASE_ONE]);
  });

  it.each([
    ['the last argument', (tx: Loose, text: string, done: Callback) => tx.query(text, [], done)],
    ['the second argument', (tx: Loose, text: string, done: Callback) => tx.query(text, done)],
    [
      'a part of the config',
      (tx: Loose, text: string, callback: Callback) => tx.query({ text, callback }),
    ],
  ])('answers by a callback that is %s', async (_, query) => {
    const answers: unknown[] = [];
    const { sent } = await sentBy(async (tx) => {
      for (const text of ['BEGIN', 'COMMIT', 'COMMIT']) {
        await new Promise<void>((resolve) => {
          const returned = query(tx, text, (error, result) => {
            answers.push(error ?? result);
            resolve();
          });
          expect(returned).toBeUndefined();
        });
      }
    });
    expect(sent).toEqual([ONE, RELEASE_ONE]);
    expect(answers).toEqual([{ rows: [] }, { rows: [] }, expect.objectContaining(lost('COMMIT'))]);
  });

  it('can be rolled back after its COMMIT failed', async () => {
    const { sent, failure } = await sentBy(async (tx, client) => {
      client.failing = RELEASE_ONE;
      await tx.query('BEGIN');
      await expect(tx.query('COMMIT')).rejects.toThrow('refused by Postgres');
      await tx.query('ROLLBACK');
    });
    expect(sent).toEqual([ONE, RELEASE_ONE, UNDO_ONE]);
    expect(failure).toBeUndefined();
  });

  it('has not begun when its BEGIN failed', async () => {
    const { failure } = await sentBy(async (tx, client) => {
      client.failing = ONE;
      await expect(tx.query('BEGIN')).rejects.toThrow('refused by Postgres');
    });
    expect(failure).toBeUndefined();
  });

  it('must have ended when the work returns', async () => {
    const { failure } = await sentBy((tx) => tx.query('BEGIN'));
    expect(failure).toMatchObject(lost('a nested transaction of it was open'));
  });

  it.each(['REPEATABLE READ', 'SERIALIZABLE'])('can not be %s', async (level) => {
    const { sent, failure } = await sentBy(async (tx) => {
      await tx.query(`begin transaction read write, isolation level ${level.toLowerCase()}`);
    });
    expect(sent).toEqual([]);
    expect(failure).toMatchObject(lost(`ISOLATION LEVEL ${level} was not sent`));
  });
});

describe('the end of the store’s transaction', () => {
  const ends = [
    'COMMIT',
    'end;',
    'ROLLBACK',
    'ABORT',
    'commit and chain',
    'ROLLBACK AND CHAIN',
    "PREPARE TRANSACTION 'one'",
    'COMMIT /* now */',
  ];
  it.each(ends)('is not to be had by %j', async (text) => {
    const { sent, failure } = await sentBy((tx) => tx.query(text));
    expect(sent).toEqual([]);
    expect(failure).toMatchObject(lost('Let the store end'));
  });

  it('is refused even to work that goes on', async () => {
    const { sent, failure } = await sentBy(async (tx) => {
      await tx.query('ROLLBACK').catch(() => undefined);
      await tx.query('SELECT 1');
    });
    expect(sent).toEqual(['SELECT 1']);
    expect(failure).toMatchObject(lost('ROLLBACK was not sent'));
  });

  it('is no chain of nested transactions', async () => {
    const { failure } = await sentBy(async (tx) => {
      await tx.query('BEGIN');
      await tx.query('COMMIT AND CHAIN');
    });
    expect(failure).toMatchObject(lost('COMMIT AND CHAIN was not sent'));
  });
});

describe('several statements at once', () => {
  const body = 'CREATE FUNCTION one() RETURNS int BEGIN ATOMIC SELECT 1; END';
  it.each([
    'SELECT 1; COMMIT',
    'BEGIN; SELECT 1; COMMIT',
    'SELECT 1;\n rollback;',
    `${body}; COMMIT`,
    // A backslash escapes the quote in the second text alone.
    "SELECT '\\'; COMMIT",
    "SELECT E'a\\''; COMMIT",
    "SELECT E'a'; COMMIT; SELECT 'b'",
  ])('are refused when they begin or end a transaction: %j', async (text) => {
    const { sent, failure } = await sentBy((tx) => tx.query(text));
    expect(sent).toEqual([]);
    expect(failure).toMatchObject(lost('was not sent'));
  });
});

describe('everything else', () => {
  const submittable = { text: 'COMMIT', submit: () => undefined };
  it.each([
    'SELECT 1',
    'SAVEPOINT one',
    'ROLLBACK TO one',
    'rollback work to savepoint one',
    'RELEASE one',
    'PREPARE begin_work AS SELECT 1',
    'SELECT 1; SELECT 2',
    'DO $$ BEGIN PERFORM 1; END $$',
    'CREATE FUNCTION one() RETURNS int BEGIN ATOMIC SELECT 1; END',
    'CREATE FUNCTION one() RETURNS int BEGIN\n  ATOMIC SELECT 1; END',
    'ROLLBACK TO one; SELECT 1',
    'endless',
    '',
    '/* COMMIT */',
    'COMMENT ON TABLE orders IS NULL',
    { text: 'SELECT $1', values: [1] },
    submittable,
    undefined,
  ])('is sent as it is: %j', async (config) => {
    const { sent } = await sentBy((tx) => tx.query(config));
    expect(sent).toEqual([config]);
  });

  it('keeps its arguments', async () => {
    const done = () => undefined;
    const { sent } = await sentBy((tx) => tx.query('SELECT $1', [1], done));
    expect(sent).toEqual([['SELECT $1', [1], done]]);
  });

  it('must have ended when the work returns', async () => {
    const { failure } = await sentBy(async (tx) => void tx.query('SELECT 1'));
    expect(failure).toMatchObject(lost('a query of it was running'));
  });

  it('is not sent when the work has ended', async () => {
    let late: Loose | undefined;
    const { sent } = await sentBy(async (tx) => {
      late = tx;
    });
    await expect(late?.query('SELECT 1')).rejects.toMatchObject(lost('The query was not sent'));
    const answered = new Promise((resolve) => late?.query('SELECT 1', resolve));
    expect(await answered).toMatchObject(lost('The query was not sent'));
    expect(sent).toEqual([]);
  });
});

describe('the view of the client', () => {
  it('is an instance of its class, and keeps the client unchanged', async () => {
    const client = new NotingClient();
    const before = Object.keys(client);
    await withSavepoints(client, async (tx) => {
      expect(tx).toBeInstanceOf(NotingClient);
      Object.assign(tx, { __knexTxId: 'trx1' });
    });
    expect(Object.keys(client)).toEqual(before);
  });

  it('listens and emits as the client', async () => {
    const client = new NotingClient();
    const heard: unknown[] = [];
    await withSavepoints(client, async (tx) => {
      const listen = (notice: unknown) => heard.push(notice);
      tx.on('notice', listen);
      client.emit('notice', 'one');
      expect(client.listenerCount('notice')).toBe(1);
      tx.removeListener('notice', listen);
      client.emit('notice', 'two');
      tx.once('notice', listen);
    });
    client.emit('notice', 'three');
    expect(heard).toEqual(['one', 'three']);
    expect(client.eventNames()).toEqual([]);
  });

  it('releases nothing', async () => {
    const { sent } = await sentBy(async (tx) => (tx as unknown as NotingClient).release());
    expect(sent).toEqual([]);
  });

  it('leads an error’s stack to the statement of the work', async () => {
    const { failure } = await sentBy(async function shipOrder(tx, client) {
      client.failing = 'SELECT 1/0';
      await tx.query('SELECT 1/0');
    });
    expect((failure as Error).stack).toContain('shipOrder');
  });
});
