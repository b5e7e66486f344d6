import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { PaymentClient } from '../../src/client/payment-client.js';
import { RequestAbortedError, RequestTimeoutError } from '../../src/errors.js';
import { PREPARE_CREATION } from '../../src/protocol/prepared-creation.js';
import type { UnresolvedPayment } from '../../src/store/attention.js';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import type { Claim } from '../../src/store/payment-row.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { createClient } from '../client/raw-server.js';
import { ContractService } from '../contract/store/service.js';
import { collect } from '../contract/store/stage.js';
import { MEMORY, openStore } from './memory-engine.js';
import { order, paid, settle } from './orders.js';

/** A backend that keeps the claims, and can be shared by outboxes. */
class ObservedBackend extends MemoryBackend {
  readonly claims: Claim[] = [];
  readonly reads: string[] = [];
  constructor() {
    super(MEMORY);
  }
  override async claim(claim: Claim) {
    this.claims.push(claim);
    return super.claim(claim);
  }
  override read(key: string) {
    this.reads.push(key);
    return super.read(key);
  }
}

function open({
  backend = new ObservedBackend(),
  ...options
}: {
  leaseMs?: number;
  requestLifetimeMs?: number;
  backend?: ObservedBackend;
} = {}) {
  const service = new ContractService();
  const store: PaymentStore<undefined> = openStore(backend, { client: service.client, ...options });
  return { service, backend, store };
}

/** The same while the service holds the answer to the first creation. */
async function openHeld() {
  const { service, backend, store } = open();
  const held = service.hold('order-1');
  const first = store.create(order('order-1'));
  await held.received;
  return { service, backend, store, held, first };
}

/** A payment as attention() would list it after one attempt. */
const ITEM = { merchantPaymentReference: 'order-1', attempts: 1, listedAt: new Date() };

describe('the arguments of a store', () => {
  it.each<[string, (store: PaymentStore<undefined>) => Promise<unknown>, string]>([
    ['no context', (store) => store.record(order('order-1'), undefined as never), 'context'],
    [
      'another context',
      (store) => store.record(order('order-1'), { transaction: 1 } as never),
      'context.transaction',
    ],
    ['extraBody in send', (store) => store.send('order-1', { extraBody: {} }), 'extraBody'],
    ['a time limit of 0', (store) => store.send('order-1', { timeoutMs: 0 }), 'timeoutMs'],
    ['nothing to send', (store) => store.send(''), 'merchantPaymentReference'],
    ['nothing to get', (store) => store.get(''), 'merchantPaymentReference'],
    ['nothing found', (store) => store.markCreated('order-1', undefined as never), 'found'],
    ['a number alone', (store) => store.markCreated('order-1', 'PAY-1' as never), 'found'],
    ['no number', (store) => store.markCreated('order-1', {} as never), 'found.referenceNumber'],
    ['no item', (store) => store.markNotCreated(undefined as never), 'item'],
    [
      'an item of another kind',
      (store) => store.markNotCreated({ ...ITEM, kind: 'second-payment' } as never),
      'item',
    ],
    [
      'attempts as text',
      (store) => store.markNotCreated({ ...ITEM, attempts: '1' } as never),
      'item.attempts',
    ],
    [
      'less than no attempt',
      (store) => store.markNotCreated({ ...ITEM, attempts: -1 }),
      'item.attempts',
    ],
    [
      'what was not listed',
      (store) => store.markNotCreated({ ...ITEM, listedAt: undefined } as never),
      'item.listedAt',
    ],
    ['no date', (store) => store.prune('yesterday' as never), 'olderThan'],
  ])('are refused: %s', async (_, ask, option) => {
    await expect(ask(open().store)).rejects.toMatchObject({ code: 'INVALID_OPTION', option });
  });

  it.each([undefined, null])(
    'is refused where a record needs a transaction and has %s',
    async (tx) => {
      const needing = Object.defineProperty(new ObservedBackend(), 'needsTransaction', {
        value: true,
      });
      const { store, backend } = open({ backend: needing });
      await expect(store.record(order('order-1'), { tx: tx as never })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        option: 'tx',
        message: expect.stringContaining('as in record(payment, { tx })'),
      });
      expect(await backend.read('order-1')).toBeUndefined();
      await store.record(order('order-1'), { tx: {} as never });
      expect(await store.get('order-1')).toMatchObject({ state: 'recorded' });
    },
  );
});

it('an amount that float arithmetic has spoilt is neither sent nor recorded', async () => {
  const { store } = open();
  const spoilt = { ...order('order-1'), amount: 19.99 * 100 };
  await expect(store.create(spoilt)).rejects.toThrow('was 1999 meant?');
  await expect(store.record(spoilt, { tx: undefined })).rejects.toThrow('was 1999 meant?');
  expect(await store.get('order-1')).toBeUndefined();
});

describe('a call', () => {
  it('claims the payment for ten seconds more than it may take', async () => {
    const { store, backend } = open();
    await store.create(order('order-1'), { timeoutMs: 7_000 });
    await store.create(order('order-2'));
    expect(backend.claims.map(({ leaseMs }) => leaseMs)).toEqual([17_000, 40_000]);
  });

  it('takes at most half of leaseMs', async () => {
    const { store, backend, service } = open({ leaseMs: 301 });
    service.hold('order-1');
    expect(await store.create(order('order-1'))).toMatchObject({
      state: 'unresolved',
      error: { code: 'TIMEOUT', message: expect.stringContaining('150 ms') },
    });
    expect(backend.claims).toMatchObject([{ leaseMs: 301 }]);
  });

  it('sends nothing when its signal is already aborted', async () => {
    const { store, backend } = open();
    const call = store.create(order('order-1'), { signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({
      code: 'ABORTED',
      requestOutcome: 'not-sent',
      safeToRetry: true,
    });
    expect(backend.claims).toEqual([]);
  });

  it.each(['the same process', 'another process'])(
    'that waits for one in %s ends when its signal aborts',
    async (where) => {
      const { store, backend, service, held, first } = await openHeld();
      const waiting = where === 'the same process' ? store : open({ backend }).store;
      const controller = new AbortController();
      const second = waiting.create(order('order-1'), { signal: controller.signal });
      controller.abort();
      await expect(second).rejects.toMatchObject({
        code: 'ABORTED',
        requestOutcome: 'unknown',
      });
      held.answer();
      expect(await first).toMatchObject({ state: 'created', replayed: false });
      expect(service.requestsFor('order-1')).toHaveLength(1);
    },
  );

  it('sends the payment itself when the call it waited for was aborted before it sent', async () => {
    const { store, service } = open();
    const controller = new AbortController();
    const first = store.create(order('order-1'), { signal: controller.signal });
    const second = store.create(order('order-1'));
    controller.abort();
    await expect(first).rejects.toMatchObject({ code: 'ABORTED', requestOutcome: 'not-sent' });
    expect(await second).toMatchObject({ state: 'created', replayed: false, attempts: 2 });
    expect(service.requestsFor('order-1')).toHaveLength(1);
  });
});

describe('a decision of a person', () => {
  it('may be repeated by its callback, but not with another number', async () => {
    const { store, service } = open();
    service.answer('order-1', 'answer-lost');
    await store.create(order('order-1'));
    const [referenceNumber = ''] = service.paymentsOf('order-1');
    await settle(store, paid('order-1', referenceNumber));
    await store.markCreated('order-1', { referenceNumber });
    await expect(store.markCreated('order-1', { referenceNumber: 'X' })).rejects.toMatchObject({
      code: 'STATE_CHANGED',
    });
  });

  it('says when to look again, where the service may still create the payment', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    onTestFinished(() => void vi.useRealTimers());
    const { store, service } = open({ leaseMs: 40_000, requestLifetimeMs: 60_000 });
    service.answer('order-1', 'answer-lost');
    await store.create(order('order-1'));
    vi.setSystemTime(40_500);
    const early = { ...ITEM, listedAt: new Date() };
    await expect(store.markNotCreated(early)).rejects.toMatchObject({
      code: 'STATE_CHANGED',
      message: expect.stringContaining('with attention() in 20 s, then'),
    });
    vi.setSystemTime(60_000);
    await expect(store.markNotCreated(early)).rejects.toThrow('with attention(), then');
    const [item] = await collect(store.attention());
    await store.markNotCreated(item as UnresolvedPayment);
    expect(await store.get('order-1')).toMatchObject({ state: 'rejected' });
  });
});

describe('the time that the service has', () => {
  it.each([
    [
      { requestLifetimeMs: 5_000, leaseMs: 5_001 },
      'requestLifetimeMs',
      'at least leaseMs (5001); received 5000',
    ],
    [{ requestLifetimeMs: 99 }, 'requestLifetimeMs', 'from 100 to 2147483647; received 99'],
    [{ requestLifetimeMs: 1_000.5 }, 'requestLifetimeMs', 'received 1000.5'],
  ])('is refused with %o', (options, option, message) => {
    expect(() => open(options)).toThrow(
      expect.objectContaining({ option, message: expect.stringContaining(message) }),
    );
  });

  it('is at least that of a call, which stores nothing otherwise', async () => {
    const shorter = open({ requestLifetimeMs: 39_999 }).store;
    const refused = {
      option: 'timeoutMs',
      message: expect.stringContaining(
        'at most requestLifetimeMs (39999); received a timeoutMs of 30000',
      ),
    };
    await expect(shorter.setup()).rejects.toMatchObject(refused);
    await expect(shorter.recover()).rejects.toMatchObject(refused);
    await expect(shorter.create(order('order-1'))).rejects.toMatchObject(refused);
    expect(() => shorter.startRecovery()).toThrow(expect.objectContaining(refused));
    const { store } = open({ requestLifetimeMs: 40_000 });
    const call = store.create(order('order-1'), { timeoutMs: 30_001 });
    await expect(call).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'timeoutMs' });
    expect(await store.get('order-1')).toBeUndefined();
    const short = open({ requestLifetimeMs: 5_000, leaseMs: 5_000 });
    expect(await short.store.create(order('order-1'))).toMatchObject({ state: 'created' });
  });
});

describe('the errors of a store', () => {
  it.each([
    ['amount differs', { amount: 1 }, undefined],
    ['currency differs', { currency: 'USD' }, undefined],
    ['extraBody differs', {}, { secret: 'of the order' }],
    ['amount, currency, extraBody differ', { amount: 1, currency: 'USD' }, { a: 1 }],
  ])('name the fields of a conflict: %s', async (what, changed, extraBody) => {
    const { store, held, first } = await openHeld();
    const message = `Another payment is stored under this merchantPaymentReference: ${what}. Nothing was sent.`;
    const another = { ...order('order-1'), ...changed };
    const whileItIsSent = store.create(another, { extraBody });
    await expect(whileItIsSent).rejects.toThrow(message);
    held.answer();
    await first;
    await expect(store.create(another, { extraBody })).rejects.toThrow(message);
    await expect(store.record(another, { tx: undefined, extraBody })).rejects.toThrow(message);
  });
});

describe('a night on which the service refuses every payment', () => {
  it.each([401, 403, 404, 405])(
    'with a %i: what is recorded is sent once the set-up is right',
    async (status) => {
      const { store, service } = open();
      const references = Array.from({ length: 20 }, (_, index) => `order-${index}`);
      for (const reference of references) {
        await store.record(order(reference), { tx: undefined });
        service.answer(reference, status, status);
      }
      for (let pass = 0; pass < 2; pass += 1) await store.recover().catch(() => undefined);
      for (const reference of references) {
        expect(await store.get(reference)).toMatchObject({ state: 'recorded' });
      }
      for (const reference of references) service.answer(reference);
      expect(await store.recover()).toEqual({ resent: 20, unresolved: 0 });
      for (const reference of references) {
        expect(service.paymentsOf(reference)).toHaveLength(1);
      }
    },
  );

  it('keeps payments that a proxy refuses, and sends them once it lets them pass', async () => {
    const { store, service } = open();
    let isOpen = false;
    const client = createClient('https://payments.invalid', {
      fetch: async () => {
        if (isOpen) return Response.json({ referenceNumber: 'PAY-1' }, { status: 201 });
        return new Response('<h1>400 No required SSL certificate was sent</h1>', { status: 400 });
      },
    });
    const behindProxy = openStore(new MemoryBackend(MEMORY), { client });
    for (const reference of ['order-1', 'order-2']) {
      await behindProxy.record(order(reference), { tx: undefined });
    }
    const { error, ...counts } = await behindProxy.recover();
    expect(error).toMatchObject({ httpStatus: 400, code: 'API_ERROR' });
    expect(counts).toEqual({ resent: 2, unresolved: 0 });
    expect(await behindProxy.get('order-1')).toMatchObject({ state: 'recorded' });
    isOpen = true;
    expect(await behindProxy.recover()).toEqual({ resent: 2, unresolved: 0 });
    // What the service itself refuses is over.
    await store.record(order('order-3'), { tx: undefined });
    service.answer('order-3', 400);
    expect(await store.recover()).toEqual({ resent: 1, unresolved: 0, rejected: 1 });
    expect(await store.get('order-3')).toMatchObject({ state: 'rejected' });
  });

  it('keeps a payment that was too early when the service was gone at the next attempt', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const server = createServer((_request, response) => {
      response.writeHead(429, { 'retry-after': '0', connection: 'close' }).end('{}');
      server.close();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = createClient(`http://127.0.0.1:${port}`, {
      maxRetries: 1,
    });
    const store = openStore(new MemoryBackend(MEMORY), { client });
    expect(await store.create(order('order-1'))).toMatchObject({
      state: 'recorded',
      error: { code: 'CONNECTION_FAILED', requestOutcome: 'rejected', safeToRetry: true },
    });
    expect(await store.get('order-1')).toMatchObject({ state: 'recorded' });
  });
});

describe('a call that waits for another of the same process', () => {
  const notSent = { requestOutcome: 'not-sent', safeToRetry: true } as const;
  const rejected = { requestOutcome: 'rejected', safeToRetry: false } as const;

  /** Two calls, of which the first one's request ends with an error. */
  async function callTwice(error: Error) {
    const { service, backend } = open();
    const errors: Error[] = [];
    const client = {
      payments: service.client.payments,
      [PREPARE_CREATION](...args: Parameters<PaymentClient[typeof PREPARE_CREATION]>) {
        const prepared = service.client[PREPARE_CREATION](...args);
        const failure = errors.shift();
        return failure === undefined
          ? prepared
          : { ...prepared, send: () => Promise.reject(failure) };
      },
    } as PaymentClient;
    const store = openStore(backend, { client, leaseMs: undefined });
    errors.push(error);
    return Promise.allSettled([store.create(order('order-1')), store.create(order('order-1'))]);
  }

  const errorOf = (error: Error) =>
    error instanceof RequestTimeoutError
      ? { value: { state: 'recorded', error } }
      : { status: 'rejected', reason: error };

  it.each([
    ['aborted', new RequestAbortedError('aborted', notSent)],
    ['too late', new RequestTimeoutError('too late', notSent)],
    ['aborted after a 429', new RequestAbortedError('aborted', { ...rejected, safeToRetry: true })],
  ])('sends by itself when that one was %s before it sent', async (_, error) => {
    const [first, second] = await callTwice(error);
    expect(first).toMatchObject(errorOf(error));
    expect(second).toMatchObject({ value: { state: 'created', replayed: false, attempts: 2 } });
  });
});

describe('a call that waits for another process', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  async function startWaiting() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { backend, held, first } = await openHeld();
    const waiting = open({ backend });
    const second = waiting.store.create(order('order-1'));
    await new Promise(setImmediate);
    backend.reads.length = 0;
    return { backend, held, first, second, waiting };
  }

  it('polls after 20 ms, then after twice as long each time, up to every second', async () => {
    const { backend, held, first, second } = await startWaiting();
    const lookedAfter: number[] = [];
    for (let ms = 1; ms <= 3_300; ms += 1) {
      await vi.advanceTimersByTimeAsync(1);
      if (backend.reads.splice(0).length > 0) lookedAfter.push(ms);
    }
    expect(lookedAfter).toEqual([20, 60, 140, 300, 620, 1_260, 2_260, 3_260]);
    expect(backend.claims).toHaveLength(2);
    held.answer();
    await first;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await second).toMatchObject({ state: 'created', replayed: true });
  });

  it('sends the payment itself once the other gives up, with a full timeout', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { backend, held, first } = await openHeld();
    const waiting = open({ backend });
    const { client } = waiting.service;
    const prepare = client[PREPARE_CREATION].bind(client);
    const given: number[] = [];
    vi.spyOn(client, PREPARE_CREATION).mockImplementation((...args) => {
      const { send, ...prepared } = prepare(...args);
      const observed = (timeoutMs: number) => {
        given.push(timeoutMs);
        return send(timeoutMs);
      };
      return { ...prepared, send: observed };
    });
    const second = waiting.store.create(order('order-1'), { timeoutMs: 30_000 });
    await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(29_500);
    held.answer('refused');
    expect(await first).toMatchObject({ state: 'recorded', error: { code: 'CONNECTION_FAILED' } });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await second).toMatchObject({ state: 'created', replayed: false, attempts: 2 });
    expect(given).toEqual([30_000]);
    expect(backend.claims.at(-1)).toMatchObject({ leaseMs: 40_000 });
  });
});

describe('a backend that does not grant what is free', () => {
  afterEach(() => void vi.useRealTimers());

  class GrudgingBackend extends ObservedBackend {
    refusals = 1;
    override async claim(claim: Claim) {
      if (this.refusals > 0) {
        this.claims.push(claim);
        this.refusals -= 1;
        return { granted: false, stored: await this.read(claim.key) };
      }
      return super.claim(claim);
    }
  }

  it('is asked again after growing pauses, until the deadline of the call', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const backend = new GrudgingBackend();
    backend.refusals = Number.POSITIVE_INFINITY;
    const { store, service } = open({ backend });
    await store.record(order('order-1'), { tx: undefined });
    let isOver = false;
    const call = store.send('order-1', { timeoutMs: 2_000 }).finally(() => {
      isOver = true;
    });
    const refused = expect(call).rejects.toMatchObject({
      code: 'STORE_TIMEOUT',
    });
    const askedAfter: number[] = [];
    for (let ms = 0; !isOver; ms += 1) {
      backend.claims.length = 0;
      await vi.advanceTimersByTimeAsync(ms === 0 ? 0 : 1);
      if (backend.claims.length > 0) askedAfter.push(ms);
    }
    expect(askedAfter).toEqual([0, 20, 60, 140, 300, 620, 1_260, 2_000]);
    await refused;
    expect(service.requestsFor('order-1')).toEqual([]);
  });

  it('is not asked again after the signal of the call aborts', async () => {
    const backend = new GrudgingBackend();
    backend.refusals = Number.POSITIVE_INFINITY;
    const { store } = open({ backend });
    await store.record(order('order-1'), { tx: undefined });
    const call = store.send('order-1', { signal: AbortSignal.timeout(30) });
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

it('sends a rejected payment again', async () => {
  const { store, service } = open();
  service.answer('order-1', 422);
  expect(await store.create(order('order-1'))).toMatchObject({
    state: 'rejected',
    error: { serviceCode: 'REFUSED' },
  });
  expect(await store.get('order-1')).toMatchObject({ state: 'rejected', replayed: true });
  expect(await store.send('order-1')).toMatchObject({ state: 'created', replayed: false });
});
