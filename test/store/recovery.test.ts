import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../src/errors.js';
import type { PaymentWithoutCallback } from '../../src/store/attention.js';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import type { ListKind, Page } from '../../src/store/payment-row.js';
import type { RecoveryOptions } from '../../src/store/payment-store.js';
import { ContractService } from '../contract/store/service.js';
import { collect } from '../contract/store/stage.js';
import { recordLines } from '../protocol/recorded-lines.js';
import { MEMORY, openStore } from './memory-engine.js';
import { order } from './orders.js';

/** A backend that counts the rounds of recovery, and fails as told. */
class ObservedBackend extends MemoryBackend {
  rounds = 0;
  failure: unknown;
  constructor() {
    super(MEMORY);
  }
  override async expire() {
    this.rounds += 1;
    return super.expire();
  }
  override async list(kind: ListKind, page: Page) {
    if (this.failure !== undefined) throw this.failure;
    return super.list(kind, page);
  }
}

function open(options: Partial<Parameters<typeof openStore>[1]> = {}) {
  const service = new ContractService();
  const backend = new ObservedBackend();
  return { service, backend, store: openStore(backend, { client: service.client, ...options }) };
}

/** Lets all that promises lead to happen, without time. */
const settled = () => new Promise(setImmediate);

const pass = async (ms: number) => {
  await vi.advanceTimersByTimeAsync(ms);
  await settled();
};

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

describe('a running recovery', () => {
  it('recovers now, and again everyMs after each round has ended', async () => {
    const { service, backend, store } = open();
    await store.record(order('order-1'), { tx: undefined });
    const held = service.hold('order-1');
    const recovery = store.startRecovery({ everyMs: 1_000 });
    await held.received;
    expect(backend.rounds).toBe(1);
    // None begins while one is under way.
    await pass(20_000);
    expect(backend.rounds).toBe(1);
    held.answer();
    await settled();
    expect(await store.get('order-1')).toMatchObject({ state: 'created' });
    await store.record(order('order-2'), { tx: undefined });
    await pass(999);
    expect(backend.rounds).toBe(1);
    await pass(1);
    expect(backend.rounds).toBe(2);
    expect(await store.get('order-2')).toMatchObject({ state: 'created' });
    await recovery.stop();
  });

  it('recovers every minute unless told otherwise', async () => {
    const { backend, store } = open();
    const recovery = store.startRecovery();
    await settled();
    await pass(59_999);
    expect(backend.rounds).toBe(1);
    await pass(1);
    expect(backend.rounds).toBe(2);
    await recovery.stop();
  });

  it('looks payments up in every round, with the options as this', async () => {
    const { service, store } = open({ leaseMs: 100 });
    service.answer('order-1', 'answer-lost');
    await store.create(order('order-1'));
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 100);
    const asked: unknown[] = [];
    const options: RecoveryOptions = {
      everyMs: 10,
      lookUp(reference) {
        asked.push(this === options, reference);
        return asked.length === 2 ? undefined : { referenceNumber: 'PAY-1' };
      },
    };
    const recovery = store.startRecovery(options);
    await settled();
    await pass(10);
    await pass(10);
    await recovery.stop();
    now.mockRestore();
    expect(asked).toEqual([true, 'order-1', true, 'order-1']);
    expect(await store.get('order-1')).toMatchObject({ state: 'created' });
  });

  it('stops once its round has ended, and begins no other', async () => {
    const { service, backend, store } = open();
    await store.record(order('order-1'), { tx: undefined });
    const held = service.hold('order-1');
    const recovery = store.startRecovery({ everyMs: 10 });
    await held.received;
    let isOver = false;
    const stopping = recovery.stop().then(() => {
      isOver = true;
    });
    await settled();
    expect(isOver).toBe(false);
    held.answer();
    await stopping;
    expect(await store.get('order-1')).toMatchObject({ state: 'created' });
    await pass(1_000);
    expect(backend.rounds).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
    await recovery.stop();
  });

  it('stops at the end of a block with await using', async () => {
    const { backend, store } = open();
    {
      await using _recovery = store.startRecovery({ everyMs: 10 });
      await settled();
    }
    expect(vi.getTimerCount()).toBe(0);
    await pass(1_000);
    expect(backend.rounds).toBe(1);
  });

  it('does not keep the process alive', async () => {
    vi.useRealTimers();
    const { store } = open();
    const timers = () =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const recovery = store.startRecovery();
    await settled();
    // The runner's own may end meanwhile.
    expect(timers()).toBeLessThanOrEqual(before);
    await recovery.stop();
  });

  it('reports each failure to onError, and goes on', async () => {
    const { backend, store } = open();
    const failure = new StoreError('STORE_FAILED', 'no database');
    backend.failure = failure;
    for (const end of [() => undefined, () => Promise.reject(failure), fail]) {
      const onError = vi.fn(end);
      const recovery = store.startRecovery({ everyMs: 10, onError });
      await settled();
      await pass(10);
      expect(onError.mock.calls).toEqual([[failure], [failure]]);
      await recovery.stop();
    }
    function fail(): void {
      throw failure;
    }
  });

  /** A store whose first payments are unresolved, and the last one recorded. */
  async function openWith(...unresolved: readonly string[]) {
    const { service, store } = open({ leaseMs: 100 });
    let nowMs = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => nowMs);
    for (const reference of unresolved) {
      service.answer(reference, 'answer-lost');
      await store.create(order(reference));
      // Those of one millisecond are in the order of their references.
      nowMs += 1;
    }
    await store.record(order('recorded'), { tx: undefined });
    nowMs += 100;
    return { store };
  }

  it('recovers everything else, though a payment cannot be looked up', async () => {
    const { store } = await openWith('odd', 'strange', 'known');
    const failures: unknown[] = [];
    const recovery = store.startRecovery({
      async lookUp(reference) {
        if (reference === 'known') return { referenceNumber: 'PAY-1' };
        throw reference;
      },
      onError: (error) => failures.push(error),
    });
    await settled();
    await recovery.stop();
    expect(failures).toEqual(['odd']);
    const states = ['odd', 'strange', 'known', 'recorded'].map(async (reference) => {
      const stored = await store.get(reference);
      return stored?.state;
    });
    expect(await Promise.all(states)).toEqual(['unresolved', 'unresolved', 'created', 'created']);
  });

  it('waits a minute for lookUp, and looks nothing else up in that round', async () => {
    const { store } = await openWith('odd', 'known');
    const asked: string[] = [];
    const failures: unknown[] = [];
    const recovery = store.startRecovery({
      lookUp(reference) {
        asked.push(reference);
        return new Promise(() => undefined);
      },
      onError: (error) => failures.push(error),
    });
    await settled();
    vi.mocked(Date.now).mockReturnValue(Date.now() + 60_000);
    await pass(59_999);
    expect(failures).toEqual([]);
    await pass(1);
    expect(failures).toMatchObject([
      { code: 'STORE_TIMEOUT', message: expect.stringMatching(/^lookUp did not settle within 60/) },
    ]);
    expect(asked).toEqual(['odd']);
    await recovery.stop();
    expect(await store.get('recorded')).toMatchObject({ state: 'created' });
    expect(await store.get('known')).toMatchObject({ state: 'unresolved' });
  });

  it('reports codes and messages to the console without onError, and nothing else of the errors', async () => {
    const { backend, store } = open();
    const shown = vi.spyOn(console, 'error').mockReturnValue();
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { query: 'SELECT a secret' });
    const text =
      'merchant-payments: recover failed: STORE_FAILED: no database; see cause; caused by: connect ECONNREFUSED';
    for (const failure of [
      new StoreError('STORE_FAILED', 'no database; see cause', { cause }),
      undefined,
    ]) {
      backend.failure = failure;
      await store.startRecovery().stop();
      expect(shown).toHaveBeenCalledExactlyOnceWith(text);
    }
  });

  it('reports nothing to the console if the store has a logger, which gets the failure', async () => {
    const { lines, logger } = recordLines();
    const { backend, store } = open({ logger });
    const shown = vi.spyOn(console, 'error').mockReturnValue();
    backend.failure = new StoreError('STORE_FAILED', 'no database');
    await store.startRecovery().stop();
    expect(shown).not.toHaveBeenCalled();
    expect(lines).toMatchObject([
      { level: 'error', fields: { operation: 'recover', code: 'STORE_FAILED' } },
    ]);
  });

  it.each([
    ['everyMs', { everyMs: 0 }, 'from 1 to 2147483647'],
    ['everyMs', { everyMs: 1.5 }, 'from 1 to 2147483647'],
    ['lookUp', { lookUp: 'order-1' }, 'lookUp must be a function'],
    ['onError', { onError: true }, 'onError must be a function'],
    ['every', { every: 5 }, 'every is not a known option'],
  ])('refuses a wrong %s at once: %o', (option, options, message) => {
    const { backend, store } = open();
    expect(() => store.startRecovery(options as never)).toThrow(
      expect.objectContaining({ option, message: expect.stringContaining(message) }),
    );
    expect(backend.rounds).toBe(0);
  });
});

describe('a look at the service', () => {
  const lifetime = { leaseMs: 1_000, requestLifetimeMs: 10_000 };

  function openWithClock() {
    const service = new ContractService();
    const clock = { nowMs: 0 };
    const backend = new MemoryBackend({ ...MEMORY, now: () => clock.nowMs });
    return { service, clock, store: openStore(backend, { client: service.client, ...lifetime }) };
  }

  it('that began before the lifetime was over decides nothing, however long it takes', async () => {
    const { service, clock, store } = openWithClock();
    service.answer('order-1', 'answer-lost');
    await store.create(order('order-1'));
    clock.nowMs = 9_999;
    const lookUp = vi.fn(async () => {
      clock.nowMs = 10_001;
      return 'not-created' as const;
    });
    await store.recover({ lookUp });
    expect(await store.get('order-1')).toMatchObject({ state: 'unresolved', attempts: 1 });
    // The next pass asks again.
    await store.recover({ lookUp });
    expect(lookUp).toHaveBeenCalledTimes(2);
    expect(await store.get('order-1')).toMatchObject({ state: 'created', attempts: 2 });
  });

  it('that finds an unresolved payment keeps its status too, once the lifetime is over', async () => {
    for (const [nowMs, foundStatus] of [
      [9_999, undefined],
      [10_000, 'paid'],
    ] as const) {
      const { service, clock, store } = openWithClock();
      service.answer('order-1', 'answer-lost');
      await store.create(order('order-1'));
      const [referenceNumber = ''] = service.paymentsOf('order-1');
      clock.nowMs = nowMs;
      const lookUp = vi.fn(() => ({ referenceNumber, status: 'paid' }));
      expect(await store.recover({ lookUp })).toMatchObject({ found: 1 });
      expect(lookUp).toHaveBeenCalledTimes(1);
      const items = await collect(store.attention({ olderThanMs: 0 }));
      expect(items).toMatchObject([{ kind: 'no-callback', attempts: 1 }]);
      expect((items[0] as PaymentWithoutCallback).foundStatus).toBe(foundStatus);
    }
  });

  it('is taken at a hundred payments without a callback in each pass, the oldest first', async () => {
    const { clock, store } = openWithClock();
    for (let index = 0; index < 150; index += 1) {
      clock.nowMs = 150 - index;
      await store.create(order(`order-${index}`));
    }
    clock.nowMs = 100_000;
    const asked: string[] = [];
    const lookUp = (reference: string) => void asked.push(reference);
    for (const count of [100, 150, 150]) {
      await store.recover({ lookUp });
      expect(asked).toHaveLength(count);
    }
    expect(asked).toEqual(Array.from({ length: 150 }, (_, index) => `order-${149 - index}`));
  });
});
