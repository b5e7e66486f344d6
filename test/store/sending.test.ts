import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CallTrace } from '../../src/client/observation.js';
import type { PaymentClient } from '../../src/client/payment-client.js';
import { ConnectionError, StoreError } from '../../src/errors.js';
import { PREPARE_CREATION } from '../../src/protocol/prepared-creation.js';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import type { Claim, Result, ServiceRecord } from '../../src/store/payment-row.js';
import { createClient } from '../client/raw-server.js';
import { ContractService } from '../contract/store/service.js';
import { collect } from '../contract/store/stage.js';
import { recordLines } from '../protocol/recorded-lines.js';
import { MEMORY, openStore } from './memory-engine.js';
import { order, paid, settle } from './orders.js';

/** A backend that fails, or is slow, as told. */
class FailingBackend extends MemoryBackend {
  /** What is thrown by the next claims, after they were granted. */
  readonly claimFailures: Error[] = [];
  /** What is thrown by the next ends, before anything is stored. */
  readonly finishFailures: Error[] = [];
  /** How long each claim takes, in milliseconds. */
  claimMs = 0;
  readonly claims: Claim[] = [];
  readonly ends: { owner: string; result: Result }[] = [];
  readonly serviceRecords: ServiceRecord[] = [];

  constructor() {
    super(MEMORY);
  }
  override async claim(claim: Claim) {
    this.claims.push(claim);
    const claimed = await super.claim(claim);
    if (this.claimMs > 0) vi.advanceTimersByTime(this.claimMs);
    const failure = this.claimFailures.shift();
    if (failure !== undefined) throw failure;
    return claimed;
  }
  override async finish(key: string, owner: string, result: Result) {
    this.ends.push({ owner, result });
    const failure = this.finishFailures.shift();
    if (failure !== undefined) throw failure;
    return super.finish(key, owner, result);
  }
  override settle(key: string, serviceRecord: ServiceRecord) {
    this.serviceRecords.push(serviceRecord);
    return super.settle(key, serviceRecord);
  }
}

function open() {
  const service = new ContractService();
  const backend = new FailingBackend();
  const store = openStore(backend, { client: service.client, leaseMs: undefined });
  return { service, backend, store };
}

const failures = (count: number) => Array.from({ length: count }, () => new Error('no database'));

afterEach(() => {
  vi.useRealTimers();
});

describe('a claim whose answer was lost', () => {
  it('is released, and nothing is sent', async () => {
    const { service, backend, store } = open();
    const failure = new Error('no database');
    backend.claimFailures.push(failure);
    await expect(store.create(order('order-1'))).rejects.toBe(failure);
    expect(backend.ends).toEqual([
      { owner: backend.claims[0]?.owner, result: { state: 'recorded', failure: undefined } },
    ]);
    expect(await store.get('order-1')).toMatchObject({ state: 'recorded' });
    expect(service.requestsFor('order-1')).toEqual([]);
    expect(await store.send('order-1')).toMatchObject({ state: 'created', replayed: false });
  });

  it("that can't be released ends no process", async () => {
    const { backend, store } = open();
    backend.claimFailures.push(...failures(1));
    backend.finishFailures.push(new Error('still no database'));
    await expect(store.create(order('order-1'))).rejects.toThrow('no database');
    await new Promise(setImmediate);
  });
});

describe('a repetition that was not sent', () => {
  const openUnresolved = async () => {
    const { service, backend } = open();
    const client = service.createClient({ idempotency: 'merchantPaymentReference' });
    const store = openStore(backend, { client, leaseMs: undefined });
    service.answer('order-1', 'answer-lost');
    await store.create(order('order-1'));
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 40_000);
    onTestFinished(() => now.mockRestore());
    const isAsItWas = async () => {
      expect(await store.get('order-1')).toMatchObject({ state: 'unresolved', attempts: 2 });
      expect(service.requestsFor('order-1')).toHaveLength(1);
    };
    return { backend, store, isAsItWas };
  };

  it('because the answer to its claim was lost leaves the payment unresolved', async () => {
    const { backend, store, isAsItWas } = await openUnresolved();
    const failure = new Error('no database');
    backend.claimFailures.push(failure);
    await expect(store.recover()).rejects.toBe(failure);
    await isAsItWas();
  });

  it('because the process stood still leaves the payment unresolved', async () => {
    const { backend, store, isAsItWas } = await openUnresolved();
    vi.useFakeTimers({ toFake: ['performance'] });
    backend.claimMs = 10_001;
    expect(await store.recover()).toEqual({ resent: 0, unresolved: 0 });
    await isAsItWas();
  });
});

describe('an answer that names another reference', () => {
  it('leaves the payment unresolved: the number of its callback is its own', async () => {
    const other = { ...order('order-2'), referenceNumber: 'of order-2', status: 'pending' };
    const client = createClient('http://127.0.0.1:9', {
      fetch: async () => Response.json(other, { status: 201 }),
    });
    const store = openStore(new FailingBackend(), { client, leaseMs: undefined });
    expect(await store.create(order('order-1'))).toMatchObject({
      state: 'unresolved',
      merchantPaymentReference: 'order-1',
      failure: { code: 'RESPONSE_UNUSABLE', requestOutcome: 'unknown' },
      error: {
        requestOutcome: 'unknown',
        safeToRetry: false,
        message: expect.stringContaining('another merchantPayment'),
      },
    });
    const replayed = await store.create(order('order-1'));
    expect(replayed).toMatchObject({ state: 'unresolved', replayed: true });
    expect(replayed).not.toHaveProperty('payment');
    const record = paid('order-1', 'its own');
    expect(await settle(store, record)).toMatchObject({ secondPayment: false, current: true });
    expect(await store.get('order-1')).toMatchObject({ state: 'created', payment: record });
  });
});

describe('a process that was stopped while it claimed', () => {
  // While a machine is suspended, its monotonic clock may stand still.
  it.each(['performance', 'Date'] as const)(
    'claims again, and gives up after five times, by %s',
    async (clock) => {
      vi.useFakeTimers({ toFake: [clock] });
      const { service, backend, store } = open();
      // The lease is ten seconds longer than the call.
      backend.claimMs = 10_001;
      await expect(store.create(order('order-1'))).rejects.toMatchObject({
        code: 'STORE_TIMEOUT',
        message: expect.stringContaining('took longer than the lease. It stays recorded.'),
      });
      expect(new Set(backend.claims.map(({ owner }) => owner)).size).toBe(5);
      expect(backend.ends).toHaveLength(5);
      expect(service.requestsFor('order-1')).toEqual([]);
      expect(await store.get('order-1')).toMatchObject({ state: 'recorded', attempts: 5 });
      backend.claimMs = 10_000;
      expect(await store.send('order-1')).toMatchObject({ state: 'created', attempts: 6 });
    },
  );
});

describe("an outcome that can't be stored", () => {
  // Node's own, which the fake ones do not include.
  const settled = () => new Promise(setImmediate);

  it('is stored once the database is back', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { backend, store } = open();
    backend.finishFailures.push(...failures(3));
    const call = store.create(order('order-1'));
    const triesAfter: [number, number][] = [];
    for (const ms of [0, 99, 1, 399, 1, 1_599, 1]) {
      await vi.advanceTimersByTimeAsync(ms);
      await settled();
      triesAfter.push([ms, backend.ends.length]);
    }
    expect(triesAfter).toEqual([
      [0, 1],
      [99, 1],
      [1, 2],
      [399, 2],
      [1, 3],
      [1_599, 3],
      [1, 4],
    ]);
    expect(await call).toMatchObject({ state: 'created', replayed: false });
  });

  it.each([
    ['created', 'it was created'],
    [422, 'rejected'],
    ['answer-lost', 'unresolved'],
  ] as const)('is said in the error, with its cause: %s', async (kind, said) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { service, backend, store } = open();
    service.answer('order-1', kind);
    const failure = new Error('still no database');
    backend.finishFailures.push(...failures(3), failure);
    const call = store.create(order('order-1')).catch((error: unknown) => error);
    while (vi.getTimerCount() > 0 || backend.ends.length < 4) {
      await settled();
      await vi.advanceTimersToNextTimerAsync();
    }
    const error = (await call) as StoreError;
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: 'STORE_FAILED', cause: failure });
    expect(error.message).toContain(
      `The attempt to send the payment ended (${said}), but that could not be stored.`,
    );
    expect(await store.get('order-1')).toMatchObject({ state: 'sending' });
  });

  it('is not stored if the payment was deleted in the meantime', async () => {
    const { service, store } = open();
    const held = service.hold('order-1');
    const call = store.create(order('order-1'));
    await held.received;
    await settle(store, paid('order-1', 'PAY-1'));
    await store.prune(new Date(Date.now() + 1_000));
    held.answer('answer-lost');
    const error = await call.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'STORE_FAILED' });
    expect(error).not.toHaveProperty('cause');
  });
});

describe('the result of a late sender', () => {
  it.each([
    ['created', 1],
    ['refused', 0],
    ['answer-lost', 0],
  ] as const)('is noted where it is that the payment exists: %s', async (kind, count) => {
    const { service, backend, store } = open();
    const held = service.hold('order-1');
    const call = store.create(order('order-1'));
    await held.received;
    await settle(store, paid('order-1', 'PAY-1'));
    held.answer(kind);
    expect(await call).toMatchObject({ state: 'created', payment: { referenceNumber: 'PAY-1' } });
    expect(backend.serviceRecords).toHaveLength(count);
  });

  it('is no second payment where the answer has no number', async () => {
    const { service, store } = open();
    const held = service.hold('order-1');
    const call = store.create(order('order-1'));
    await held.received;
    await settle(store, paid('order-1', 'PAY-1'));
    held.answer('body-lost');
    expect(await call).toMatchObject({ state: 'created', payment: { referenceNumber: 'PAY-1' } });
    expect(await collect(store.attention())).toEqual([]);
  });
});

describe('the failure that is stored', () => {
  it('has the code, the outcome and the status', async () => {
    const { service, store } = open();
    for (const [kind, failure] of [
      [
        500,
        { code: 'API_ERROR', serviceCode: 'REFUSED', requestOutcome: 'unknown', httpStatus: 500 },
      ],
      ['answer-lost', { code: 'CONNECTION_FAILED', requestOutcome: 'unknown' }],
      ['body-lost', { code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' }],
    ] as const) {
      const reference = `order-${kind}`;
      service.answer(reference, kind);
      expect(await store.create(order(reference))).toMatchObject({ failure });
    }
  });

  it('is logged by the client like that of any other payment', async () => {
    const { lines, logger } = recordLines();
    const operations: unknown[] = [];
    const listener = (call: unknown) => operations.push((call as CallTrace).operation);
    subscribe('tracing:merchant-payments:call:start', listener);
    onTestFinished(() => void unsubscribe('tracing:merchant-payments:call:start', listener));
    const client = createClient('https://payments.invalid', {
      maxRetries: 0,
      logger,
      fetch: async () => Response.json({}, { status: 422 }),
    });
    await client.payments.create(order('order-1')).catch(() => undefined);
    const store = openStore(new FailingBackend(), { client, leaseMs: undefined });
    await store.create(order('order-1')).catch(() => undefined);
    const [direct, stored] = lines.map(({ level, message, fields }) => {
      return { level, message, fields: { ...fields, durationMs: 0 } };
    });
    expect(direct?.fields).toMatchObject({ merchantPaymentReference: 'order-1' });
    expect(stored).toEqual(direct);
    expect(operations).toEqual(['payments.create', 'payments.create']);
  });

  /** A store whose client fails with this. */
  const openFailing = (failure: Error) => {
    const { service, backend } = open();
    const client = {
      payments: service.client.payments,
      [PREPARE_CREATION]: (...args: Parameters<PaymentClient[typeof PREPARE_CREATION]>) => ({
        ...service.client[PREPARE_CREATION](...args),
        send: () => Promise.reject(failure),
      }),
    } as unknown as PaymentClient;
    return { backend, store: openStore(backend, { client, leaseMs: undefined }) };
  };

  it('leaves the payment recorded that was not sent, even if it must not be sent again as it is', async () => {
    const details = { requestOutcome: 'not-sent', safeToRetry: false } as const;
    const { store, backend } = openFailing(new ConnectionError('closed', details));
    expect(await store.create(order('order-1'))).toMatchObject({
      state: 'recorded',
      error: { message: 'closed' },
    });
    expect(await backend.read('order-1')).toMatchObject({ state: 'recorded' });
  });

  it('leaves the payment unresolved if the client throws something else', async () => {
    const failure = new TypeError('a broken client');
    const { store, backend } = openFailing(failure);
    await expect(store.create(order('order-1'))).rejects.toBe(failure);
    expect(await backend.read('order-1')).toMatchObject({
      state: 'unresolved',
      failure: '{"code":"UNKNOWN","requestOutcome":"unknown"}',
    });
  });
});
