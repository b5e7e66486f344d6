import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { pgTransactions } from '../../../src/inbox/postgres/pg-transactions.js';
import type { Queryable } from '../../../src/inbox/postgres/pool.js';
import type { Ending } from '../../../src/inbox/postgres/transactions.js';
import { deferred } from './payment-change.js';

const LONG_MS = 60_000;
const LONG = { acquireTimeoutMs: LONG_MS, idleTimeoutMs: LONG_MS };
const SHORT = { acquireTimeoutMs: 5, idleTimeoutMs: LONG_MS };
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
const done: Ending<string> = { end: 'commit', result: 'done' };

type Answer = Error | { command: string | undefined };

/** A client that notes what is asked of it, and answers as told by the first word. */
class ScriptedClient extends EventEmitter implements Queryable {
  readonly calls: string[] = [];
  constructor(readonly answers: Record<string, Answer> = {}) {
    super();
  }
  async query<Row>(text: string): Promise<{ rows: Row[] }> {
    const [command = ''] = text.split(' ');
    this.calls.push(command);
    const answer = this.answers[command] ?? { command };
    if (answer instanceof Error) throw answer;
    if (command !== 'BEGIN') return { rows: [], ...answer };
    return [{}, { rows: [{ lock_timeout: '7s' }] }, {}] as never;
  }
  release(error?: Error): void {
    this.calls.push(error ? `release(${error.message})` : 'release()');
  }
}

const over = (client: ScriptedClient, acquireTimeoutMs = LONG_MS) =>
  pgTransactions({ connect: async () => client }, { acquireTimeoutMs, idleTimeoutMs: LONG_MS });

describe('a connection that ends in one piece with its beginning', () => {
  it('is lost, and does not end the process', async () => {
    const client = new ScriptedClient();
    const pool = {
      connect(connected: (error: unknown, client: ScriptedClient) => void) {
        connected(undefined, client);
        // Throws where nobody listens.
        client.emit('error', new Error('terminated'));
      },
    };
    const transactions = pgTransactions(pool as never, LONG);
    await expect(transactions.run(1, async () => done)).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      cause: { message: 'terminated' },
    });
    expect(client.calls.at(-1)).toContain('release(The connection to Postgres was lost');
    expect(client.listenerCount('error')).toBe(0);
  });

  it.each([
    ['an error', new Error('refused'), undefined, 'refused'],
    ['no client', undefined, undefined, 'pool must be a Pool of pg'],
  ])('is refused when the pool gives %s', async (_, error, client, message) => {
    const pool = {
      connect(connected: (error: unknown, client: unknown) => void) {
        connected(error, client);
      },
    };
    const running = pgTransactions(pool as never, LONG).run(1, async () => done);
    await expect(running).rejects.toThrow(message);
  });
});

describe('a transaction on a connection of a pool', () => {
  it('is committed and its connection given back', async () => {
    const client = new ScriptedClient();
    const before = timers();
    expect(await over(client).run(1, async () => done)).toBe('done');
    expect(client.calls).toEqual(['BEGIN', 'COMMIT', 'release()']);
    expect(timers()).toBe(before);
    expect(client.listenerCount('error')).toBe(0);
  });

  it('is rolled back when the body says so', async () => {
    const client = new ScriptedClient();
    const body = async () => ({ end: 'rollback', result: 'no' }) as const;
    expect(await over(client).run(1, body)).toBe('no');
    expect(client.calls).toEqual(['BEGIN', 'ROLLBACK', 'release()']);
  });

  it('hands on the client itself and the lock_timeout of before', async () => {
    const client = new ScriptedClient();
    await over(client).run(1, async ({ tx, previousLockTimeout }) => {
      expect(tx).toBe(client);
      expect(previousLockTimeout).toBe('7s');
      return done;
    });
  });

  it.each(['BEGIN', 'COMMIT'])('is rolled back when %s fails', async (command) => {
    const failure = new Error('it failed');
    const client = new ScriptedClient({ [command]: failure });
    await expect(over(client).run(1, async () => done)).rejects.toBe(failure);
    expect(client.calls.slice(-3)).toEqual([command, 'ROLLBACK', 'release()']);
  });

  it('rejects with what the body throws, whatever that is', async () => {
    const client = new ScriptedClient();
    await expect(over(client).run(1, () => Promise.reject('text'))).rejects.toBe('text');
    expect(client.calls).toEqual(['BEGIN', 'ROLLBACK', 'release()']);
  });

  it('has its connection closed when it can not be rolled back', async () => {
    const failure = new Error('it failed');
    const client = new ScriptedClient({ ROLLBACK: new Error('no answer') });
    await expect(over(client).run(1, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(client.calls).toEqual(['BEGIN', 'ROLLBACK', 'release(no answer)']);
  });

  it('has its connection closed with an error, whatever its driver rejects with', async () => {
    const client = new ScriptedClient();
    const failure = new Error('it failed');
    const query = client.query.bind(client);
    client.query = (text) => (text === 'ROLLBACK' ? Promise.reject('no answer') : query(text));
    const release = vi.spyOn(client, 'release');
    await expect(over(client).run(1, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(release.mock.calls).toEqual([[new Error('ROLLBACK failed', { cause: 'no answer' })]]);
  });

  it('is lost when Postgres answers COMMIT with ROLLBACK', async () => {
    const client = new ScriptedClient({ COMMIT: { command: 'ROLLBACK' } });
    await expect(over(client).run(1, async () => done)).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('SAVEPOINT'),
    });
  });

  it('is committed with a driver that does not say what it did', async () => {
    const client = new ScriptedClient({ COMMIT: { command: undefined } });
    expect(await over(client).run(1, async () => done)).toBe('done');
  });

  it('aborts its signal when the connection is lost, and is not open then', async () => {
    const failure = new Error('terminating connection');
    const client = new ScriptedClient();
    // What is thrown in the body would not be seen: the transaction is lost by then.
    const ended = deferred<unknown>();
    const running = over(client).run(1, async ({ signal, assertOpen }) => {
      assertOpen();
      const before = signal.aborted;
      client.emit('error', failure);
      // A second error of the same client must find a listener too.
      client.emit('error', failure);
      const thrown = await (async () => assertOpen())().catch((error: unknown) => error);
      ended.resolve({ before, reason: signal.reason, thrown });
      return done;
    });
    await expect(running).rejects.toMatchObject({ code: 'TRANSACTION_LOST', cause: failure });
    const reason = expect.objectContaining({ code: 'TRANSACTION_LOST', cause: failure });
    expect(await ended.promise).toEqual({ before: false, reason, thrown: reason });
  });

  it.each(['hangs', 'fails later'])('is not kept by a body that %s', async (name) => {
    const client = new ScriptedClient();
    const body = deferred<Ending<string>>();
    const running = over(client).run(1, () => {
      setImmediate(() => client.emit('error', new Error('terminating connection')));
      return body.promise;
    });
    await expect(running).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    expect(client.calls).toEqual([
      'BEGIN',
      expect.stringMatching(/^release\(The connection to Postgres was lost/),
    ]);
    expect(client.listenerCount('error')).toBe(0);
    // Nobody waits for it: it must not be an unhandled rejection, which would fail this run.
    if (name === 'fails later') body.reject(new Error('out of reach'));
  });
});

describe('a connection of a pool', () => {
  it('that comes too late is given back unused', async () => {
    const client = new ScriptedClient();
    const connecting = deferred<ScriptedClient>();
    const transactions = pgTransactions({ connect: () => connecting.promise }, SHORT);
    const running = transactions.run(1, async () => done);
    await expect(running).rejects.toMatchObject({
      code: 'INBOX_TIMEOUT',
      message: expect.stringContaining('acquireTimeoutMs (5 ms)'),
    });
    expect(client.calls).toEqual([]);
    connecting.resolve(client);
    await vi.waitFor(() => expect(client.calls).toEqual(['release()']));
    expect(client.listenerCount('error')).toBe(0);
  });

  it('that fails too late is nobody’s failure', async () => {
    const connecting = deferred<ScriptedClient>();
    const transactions = pgTransactions({ connect: () => connecting.promise }, SHORT);
    await expect(transactions.run(1, async () => done)).rejects.toThrow('acquireTimeoutMs');
    connecting.reject(new Error('refused'));
  });

  it('that the pool refuses is the failure', async () => {
    const failure = new Error('refused');
    const transactions = pgTransactions({ connect: () => Promise.reject(failure) }, LONG);
    await expect(transactions.run(1, async () => done)).rejects.toBe(failure);
  });

  it('that has no release tells that the pool is none', async () => {
    const connect = async () => ({ query: async () => ({ rows: [] }) }) as never;
    await expect(pgTransactions({ connect }, LONG).run(1, async () => done)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'pool',
      message: expect.stringMatching(
        /something whose connect\(\) does not give a client.*pg\.Pool/,
      ),
    });
  });
});
