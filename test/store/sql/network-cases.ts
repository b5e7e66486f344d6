import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ManagedStore } from '../../../src/store/callback-store.js';
import { change, heldWork, nothing } from '../../postgres/change.js';
import { type SwallowingProxy, startSwallowingProxy } from '../../postgres/swallowing-proxy.js';
import { outcomeOf } from '../outcome-of.js';

// What a busy machine still keeps, where nothing hangs.
export const SHORT = { lockTimeoutMs: 100, commandTimeoutMs: 1_000, acquireTimeoutMs: 4_000 };

type SqlStore = ManagedStore<unknown>;
type Timeouts = Partial<typeof SHORT> & { transactionTimeoutMs?: number };

export interface NetworkEngine<Pool> {
  /** Of the database, with the store's tables. */
  readonly url: string;
  /** Opens a pool of two connections. */
  openPool(url: string): Pool;
  closePool(pool: Pool): Promise<unknown>;
  makeStore(pool: Pool, options?: Timeouts): SqlStore;
  send(tx: unknown, sql: string): Promise<unknown>;
  /** Calls `act` just before COMMIT is sent: for an engine that sends more than one message after the work. */
  beforeCommit?(tx: unknown, act: () => void): void;
  /** How many connections the pool has. */
  sizeOf(pool: Pool): number;
  /** Opens both connections, which are then idle. */
  warmUp(pool: Pool): Promise<void>;
  /** Asserts that the connection on which something was lost is not in the pool. */
  expectGone(pool: Pool): Promise<void>;
}

/** For each test, a network between the store and its database. */
export function useNetwork<Pool>(engine: NetworkEngine<Pool>) {
  let proxy: SwallowingProxy;
  let pool: Pool;
  beforeEach(async () => {
    proxy = await startSwallowingProxy(engine.url);
    pool = engine.openPool(proxy.url);
  });
  afterEach(async () => {
    await proxy.close();
    await engine.closePool(pool);
  });
  return { engine, proxy: () => proxy, pool: () => pool };
}

/** What holds of a network that swallows what is sent. */
export function describeNetwork<Pool>(scene: ReturnType<typeof useNetwork<Pool>>): void {
  const { engine, proxy, pool } = scene;
  const open = (options?: Timeouts) => engine.makeStore(pool(), options);
  const expectGone = () => engine.expectGone(pool());
  const beforeCommit = engine.beforeCommit ?? ((_tx: unknown, act: () => void) => act());
  const heal = () => {
    proxy().cut();
    proxy().heal();
  };

  it('fails callbacks in time and leaves the pool as large as it was', async () => {
    await engine.warmUp(pool());
    const store = open({ ...SHORT, acquireTimeoutMs: 300 });
    proxy().swallow();
    const lost = ['a', 'b', 'c', 'd'].map((name) => outcomeOf(store, change(name), nothing));
    for (const outcome of await Promise.allSettled(lost)) {
      expect(outcome).toMatchObject({ status: 'rejected' });
    }
    heal();
    const after = ['a', 'b', 'c'].map((name) => outcomeOf(open(), change(name), nothing));
    expect(await Promise.all(after)).toEqual(['processed', 'processed', 'processed']);
    expect(engine.sizeOf(pool())).toBe(2);
  });

  it('while the work runs, does not keep its connection after it', async () => {
    const held = heldWork<unknown>();
    const running = outcomeOf(open(SHORT), change('failing'), held.work);
    await held.started;
    proxy().swallow();
    held.fail('failed');
    await expect(running).rejects.toBe('failed');
    await expectGone();
  });

  it.each([
    ['a statement of the work', (tx: unknown) => engine.send(tx, 'SELECT 1')],
    ['work that waits for something else', () => new Promise<never>(() => undefined)],
  ])('under %s: the transaction has a limit, without one of the pool', async (name, wait) => {
    const store = open({ ...SHORT, transactionTimeoutMs: 1_000 });
    let aborted: unknown;
    const running = outcomeOf(store, change(name), async ({ tx, signal }) => {
      proxy().swallow();
      signal.addEventListener('abort', () => {
        aborted = signal.reason;
      });
      await wait(tx);
    });
    const lost = {
      code: 'STORE_TIMEOUT',
      message: expect.stringContaining('transactionTimeoutMs'),
    };
    await expect(running).rejects.toMatchObject(lost);
    expect(aborted).toMatchObject(lost);
    await expectGone();
    heal();
    expect(await outcomeOf(open(), change(name), nothing)).toBe('processed');
  });

  it('before COMMIT: whether the change was recorded is unknown, and a retry tells', async () => {
    const running = outcomeOf(open(SHORT), change('not-sent'), async () => proxy().swallow());
    await expect(running).rejects.toMatchObject({
      code: 'STORE_TIMEOUT',
      message: expect.stringMatching(/whether it was recorded is unknown.*retry/),
    });
    await expectGone();
    heal();
    expect(await outcomeOf(open(), change('not-sent'), nothing)).toBe('processed');
  });

  it('after COMMIT: the same, and the retry is a duplicate', async () => {
    const running = outcomeOf(open(SHORT), change('not-answered'), async ({ tx }) =>
      beforeCommit(tx, () => proxy().swallowNextAnswer()),
    );
    await expect(running).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
    proxy().heal();
    expect(await outcomeOf(open(), change('not-answered'), nothing)).toBe('duplicate');
  });

  it('and ends the connection after COMMIT: the error says that too', async () => {
    const running = outcomeOf(open(), change('cut'), async ({ tx }) => {
      beforeCommit(tx, () => proxy().swallowNextAnswer());
      proxy().answered.then(() => proxy().cut());
    });
    await expect(running).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringMatching(/whether it was recorded is unknown.*retry/),
      cause: expect.any(Error),
    });
    expect(await outcomeOf(open(), change('cut'), nothing)).toBe('duplicate');
  });
}
