import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import type { Queryable } from '../../src/postgres/pool.js';
import { poolConnections } from '../../src/postgres/pool-connections.js';
import type { Ending, OpenTransaction } from '../../src/store/sql/transactions.js';
import { waitFor } from '../wait-for.js';
import { deferred } from './change.js';

const LONG_MS = 60_000;
const LONG = {
  acquireTimeoutMs: LONG_MS,
  lockTimeoutMs: 5,
  commandTimeoutMs: LONG_MS,
  transactionTimeoutMs: LONG_MS,
  idleTimeoutMs: LONG_MS,
};
const SHORT = { ...LONG, acquireTimeoutMs: 5 };
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
type Body = (transaction: OpenTransaction<ScriptedClient>) => Promise<Ending<string>>;
const done: Body = async (transaction) => {
  await transaction.begin(LONG, ['SELECT 1']);
  return { end: 'commit', result: 'done', undo: false, statements: ['SELECT 2'] };
};
const failing = (reason: unknown): Body => {
  return async (transaction) => {
    await done(transaction);
    throw reason;
  };
};

type Answer = Error | { command: string | undefined } | undefined;

/** A client that notes what is asked of it, and answers as told by the last word, or never. */
class ScriptedClient extends EventEmitter implements Queryable {
  readonly calls: string[] = [];
  constructor(readonly answers: Record<string, Answer> = {}) {
    super();
  }
  async query<Row>(text: string): Promise<{ rows: Row[] }> {
    const [last = ''] = text.split('; ').reverse();
    this.calls.push(text);
    const answer = last in this.answers ? this.answers[last] : { command: last };
    if (answer === undefined) return new Promise(() => undefined);
    if (answer instanceof Error) throw answer;
    const result = { rows: [] as Row[], ...answer };
    const others = text.split('; ').slice(0, -1);
    return text === last ? result : ([...others.map(answerTo), result] as never);
  }
  release(error?: Error): void {
    this.calls.push(error ? `release(${error.message})` : 'release()');
  }
}

/** The first SELECT of a transaction returns the session's role and search_path. */
function answerTo(statement: string) {
  return { rows: statement.includes('search_path') ? [{ session: '["none","public"]' }] : [] };
}

const SAVEPOINT = 'SAVEPOINT merchant_payments';
const BEGIN = expect.stringMatching(
  /^BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT [^;]*; SELECT 1; SAVEPOINT merchant_payments$/,
);
const COMMIT = expect.stringMatching(
  /^RELEASE SAVEPOINT merchant_payments; SELECT [^;]*; SELECT 2; COMMIT$/,
);
const answered = (code: string) => Object.assign(new Error('answered'), { code });
const over = (client: ScriptedClient, timeouts = LONG) =>
  poolConnections<ScriptedClient>({ connect: async () => client }, timeouts);

describe('a connection that ends in one piece with its beginning', () => {
  it('is lost, and does not end the process', async () => {
    const client = new ScriptedClient();
    const pool = {
      connect(connected: (error: unknown, client: ScriptedClient) => void) {
        connected(undefined, client);
        // Throws without a listener.
        client.emit('error', new Error('terminated'));
      },
    };
    const connections = poolConnections<ScriptedClient>(pool as never, LONG);
    await expect(connections.run(done)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('nothing was done'),
    });
    expect(client.calls.at(-1)).toContain('release(The connection to Postgres was lost');
    expect(client.listenerCount('error')).toBe(0);
  });

  it.each([
    ['an error', new Error('refused'), undefined, 'nothing was done'],
    ['no client', undefined, undefined, 'database must be a Pool of pg'],
  ])('is refused when the pool gives %s', async (_, error, client, message) => {
    const pool = {
      connect(connected: (error: unknown, client: unknown) => void) {
        connected(error, client);
      },
    };
    const running = poolConnections<ScriptedClient>(pool as never, LONG).run(done);
    await expect(running).rejects.toThrow(message);
  });
});

describe('a transaction on a connection of a pool', () => {
  it('is begun and committed in one message each, and its connection given back', async () => {
    const client = new ScriptedClient();
    const before = timers();
    expect(await over(client).run(done)).toBe('done');
    expect(client.calls).toEqual([BEGIN, COMMIT, 'release()']);
    expect(timers()).toBe(before);
    expect(client.listenerCount('error')).toBe(0);
  });

  it('is committed alone when there is nothing to send with it', async () => {
    const client = new ScriptedClient();
    await over(client).run(async () => ({
      end: 'commit',
      result: undefined,
      undo: false,
      statements: [],
    }));
    expect(client.calls).toEqual(['COMMIT', 'release()']);
  });

  it('is lost with its connection when the body takes too long, whatever it waits for', async () => {
    const client = new ScriptedClient();
    const held = deferred<void>();
    let signal: AbortSignal | undefined;
    const running = over(client, { ...LONG, transactionTimeoutMs: 5 }).run(async (transaction) => {
      signal = transaction.signal;
      await held.promise;
      return done(transaction);
    });
    const message = expect.stringContaining('transactionTimeoutMs (5 ms)');
    await expect(running).rejects.toMatchObject({ code: 'STORE_TIMEOUT', message });
    expect(signal).toMatchObject({ aborted: true, reason: { code: 'STORE_TIMEOUT' } });
    expect(client.calls).toEqual([expect.stringContaining('release(The transaction was not over')]);
  });

  it('may take longer over its COMMIT, which has a separate limit', async () => {
    const client = new ScriptedClient({ COMMIT: undefined });
    const timeouts = { ...LONG, transactionTimeoutMs: 5, commandTimeoutMs: 20 };
    const message = expect.stringContaining('commandTimeoutMs (20 ms)');
    await expect(over(client, timeouts).run(done)).rejects.toMatchObject({ message });
  });

  it('is rolled back when the body says so', async () => {
    const client = new ScriptedClient();
    const body: Body = async (transaction) => {
      await transaction.begin(LONG, []);
      return { end: 'rollback', result: 'no' };
    };
    expect(await over(client).run(body)).toBe('no');
    expect(client.calls.slice(1)).toEqual(['ROLLBACK', 'release()']);
  });

  it('keeps what the body says when it can not be rolled back, and is closed', async () => {
    const client = new ScriptedClient({ ROLLBACK: new Error('no answer') });
    const body: Body = async (transaction) => {
      await transaction.begin(LONG, []);
      return { end: 'rollback', result: 'no' };
    };
    expect(await over(client).run(body)).toBe('no');
    expect(client.calls.slice(1)).toEqual(['ROLLBACK', 'release(no answer)']);
  });

  it('hands on the client itself', async () => {
    const client = new ScriptedClient();
    await over(client).run(async (transaction) => {
      expect(transaction.tx).toBe(client);
      return done(transaction);
    });
  });

  it.each([
    ['BEGIN', { [SAVEPOINT]: answered('53100') }],
    ['COMMIT', { COMMIT: answered('23505') }],
  ])('is rolled back when Postgres refuses %s', async (_, answers) => {
    const client = new ScriptedClient(answers);
    await expect(over(client).run(done)).rejects.toThrow('answered');
    expect(client.calls.slice(-2)).toEqual(['ROLLBACK', 'release()']);
  });

  it('is not used again when BEGIN fails with no answer of Postgres', async () => {
    const failure = Object.assign(new Error('broken pipe'), { code: 'EPIPE' });
    const client = new ScriptedClient({ [SAVEPOINT]: failure });
    await expect(over(client).run(done)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('nothing was done'),
    });
    expect(client.calls).toEqual([BEGIN, 'release(broken pipe)']);
  });

  it.each([
    ['the way to Postgres', new Error('Connection terminated unexpectedly')],
    ['a pipe', Object.assign(new Error('broken pipe'), { code: 'EPIPE' })],
    ['Postgres by an administrator', answered('57P01')],
    ['Postgres by a protocol error', answered('08P01')],
  ])('may have been committed when COMMIT is ended by %s', async (_, failure) => {
    const client = new ScriptedClient({ COMMIT: failure });
    await expect(over(client).run(done)).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('whether it was recorded is unknown'),
      cause: failure,
    });
  });

  it('may have been committed when the connection is lost before the answer', async () => {
    const failure = new Error('terminated');
    const client = new ScriptedClient({ COMMIT: undefined });
    const running = over(client).run(done);
    await waitFor(() => expect(client.calls.at(-1)).toEqual(COMMIT));
    client.emit('error', failure);
    await expect(running).rejects.toMatchObject({
      message: expect.stringContaining('whether it was recorded is unknown'),
      cause: failure,
    });
  });

  it.each([
    ['3B001', 'Let the store end'],
    ['25P01', 'Let the store end'],
    ['25P02', 'SAVEPOINT before a statement'],
    ['25P03', 'nothing was recorded'],
  ])('that Postgres ends with %s at the record is lost', async (state, message) => {
    const client = new ScriptedClient({ COMMIT: answered(state) });
    await expect(over(client).run(done)).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ['BEGIN', { [SAVEPOINT]: undefined }, 'did not answer within 10 ms'],
    ['COMMIT', { COMMIT: undefined }, 'did not answer COMMIT within commandTimeoutMs (5 ms)'],
  ])('does not wait longer for %s than its timeout', async (_, answers, message) => {
    const client = new ScriptedClient(answers);
    const timeouts = { ...LONG, commandTimeoutMs: 5 };
    const running = over(client, timeouts).run<string>(async (transaction) => {
      await transaction.begin(timeouts, ['SELECT 1']);
      return { end: 'commit', result: 'done', undo: false, statements: [] };
    });
    await expect(running).rejects.toMatchObject({
      code: 'STORE_TIMEOUT',
      message: expect.stringContaining(message),
    });
    // Closed, without a ROLLBACK that would get no answer either.
    expect(client.calls.at(-2)).not.toBe('ROLLBACK');
    expect(client.calls.at(-1)).toContain(message);
  });

  it('does not wait longer for ROLLBACK, and is closed', async () => {
    const client = new ScriptedClient({ ROLLBACK: undefined });
    const timeouts = { ...LONG, commandTimeoutMs: 5 };
    await expect(over(client, timeouts).run(failing('text'))).rejects.toBe('text');
    expect(client.calls.at(-1)).toContain('release(Postgres did not answer');
  });

  it.each(['25006', '0A000'])('is closed after %s: the server has changed', async (state) => {
    const client = new ScriptedClient();
    const failure = answered(state);
    await expect(over(client).run(failing(failure))).rejects.toBe(failure);
    expect(client.calls.at(-1)).toBe('release(answered)');
  });

  it('rejects with what the body throws, whatever that is', async () => {
    const client = new ScriptedClient();
    await expect(over(client).run(failing('text'))).rejects.toBe('text');
    expect(client.calls).toEqual([BEGIN, 'ROLLBACK', 'release()']);
  });

  it('has its connection closed with an error, whatever its driver rejects with', async () => {
    const client = new ScriptedClient();
    const query = client.query.bind(client);
    client.query = (text) => (text === 'ROLLBACK' ? Promise.reject('no answer') : query(text));
    const release = vi.spyOn(client, 'release');
    await expect(over(client).run(failing('text'))).rejects.toBe('text');
    expect(release.mock.calls).toEqual([
      [new Error('the driver rejected with no Error', { cause: 'no answer' })],
    ]);
  });

  it('is lost when Postgres answers COMMIT with ROLLBACK', async () => {
    const client = new ScriptedClient({ COMMIT: { command: 'ROLLBACK' } });
    await expect(over(client).run(done)).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('SAVEPOINT'),
    });
  });

  it('is committed with a driver that does not say what it did', async () => {
    const client = new ScriptedClient({ COMMIT: { command: undefined } });
    expect(await over(client).run(done)).toBe('done');
  });

  it.each(['before', 'after'])('aborts a signal that is asked for %s the loss', async (when) => {
    const failure = new Error('terminating connection');
    const client = new ScriptedClient();
    const seen = deferred<AbortSignal>();
    const running = over(client).run(async (transaction) => {
      await transaction.begin(LONG, []);
      if (when === 'before') expect(transaction.signal.aborted).toBe(false);
      client.emit('error', failure);
      // A second error of the same client must find a listener too.
      client.emit('error', new Error('another'));
      seen.resolve(transaction.signal);
      return { end: 'commit', result: 'done', undo: false, statements: [] };
    });
    await expect(running).rejects.toMatchObject({ code: 'TRANSACTION_LOST', cause: failure });
    const { aborted, reason } = await seen.promise;
    expect(aborted).toBe(true);
    expect(reason).toMatchObject({ code: 'TRANSACTION_LOST', cause: failure });
    // Nothing was sent on it.
    expect(client.calls).toHaveLength(2);
  });

  it.each(['hangs', 'fails later'])('is not kept by a body that %s', async (name) => {
    const client = new ScriptedClient();
    const body = deferred<Ending<string>>();
    const running = over(client).run(async (transaction) => {
      await transaction.begin(LONG, []);
      setImmediate(() => client.emit('error', new Error('terminating connection')));
      return body.promise;
    });
    await expect(running).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    expect(client.calls.slice(1)).toEqual([
      expect.stringMatching(/^release\(The connection to Postgres was lost/),
    ]);
    expect(client.listenerCount('error')).toBe(0);
    // Nothing awaits it: an unhandled rejection would fail this run.
    if (name === 'fails later') body.reject(new Error('out of reach'));
  });
});

describe('a connection of a pool', () => {
  it('that arrives too late is released unused', async () => {
    const client = new ScriptedClient();
    const connecting = deferred<ScriptedClient>();
    const connections = poolConnections({ connect: () => connecting.promise }, SHORT);
    const running = connections.run(done);
    await expect(running).rejects.toMatchObject({
      code: 'STORE_TIMEOUT',
      message: expect.stringContaining('acquireTimeoutMs (5 ms)'),
    });
    expect(client.calls).toEqual([]);
    connecting.resolve(client);
    await waitFor(() => expect(client.calls).toEqual(['release()']));
    expect(client.listenerCount('error')).toBe(0);
  });

  it("that arrives too late and can't be released does not end the process", async () => {
    const client = new ScriptedClient();
    const release = vi.fn(() => {
      throw new Error('a wrapper of the pool');
    });
    client.release = release;
    const connecting = deferred<ScriptedClient>();
    const running = poolConnections({ connect: () => connecting.promise }, SHORT).run(done);
    await expect(running).rejects.toThrow('acquireTimeoutMs');
    connecting.resolve(client);
    // What is thrown here fails the run as an unhandled error.
    await waitFor(() => expect(release).toHaveBeenCalled());
  });

  it('that fails too late is ignored', async () => {
    const connecting = deferred<ScriptedClient>();
    const connections = poolConnections({ connect: () => connecting.promise }, SHORT);
    await expect(connections.run(done)).rejects.toThrow('acquireTimeoutMs');
    connecting.reject(new Error('refused'));
  });

  it('that the pool refuses is the failure', async () => {
    const failure = new Error('refused');
    const connections = poolConnections({ connect: () => Promise.reject(failure) }, LONG);
    await expect(connections.run(done)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('nothing was done'),
      cause: { message: 'refused' },
    });
  });

  it('that has no release tells that the pool is none', async () => {
    const connect = async () => ({ query: async () => ({ rows: [] }) }) as never;
    await expect(poolConnections({ connect }, LONG).run(done)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'database',
      message: expect.stringMatching(
        /something whose connect\(\) does not return a client.*pg\.Pool/,
      ),
    });
  });
});
