import { expect, it } from 'vitest';
import { PaymentClient } from '../../src/client/payment-client.js';
import { Engine } from '../../src/store/engine.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { Claim, Claimed, Result } from '../../src/store/store.js';
import { ContractService, recordOf } from '../contract/outbox/service.js';
import { order } from './settling-scene.js';

/** A store in which another sender gives up between a claim and the read after it. */
class RacingStore extends MemoryStore {
  readonly #result: Result;
  #isFirst = true;

  constructor(result: Result) {
    super({ now: Date.now, maxEntries: 10 });
    this.#result = result;
  }

  override async claim(claim: Claim): Promise<Claimed> {
    if (!this.#isFirst) return super.claim(claim);
    this.#isFirst = false;
    await super.claim({ ...claim, owner: 'another' });
    const { granted } = await super.claim(claim);
    await super.finish(claim.key, 'another', this.#result);
    return { granted, stored: await super.read(claim.key) };
  }
}

it.each(['recorded', 'rejected'] as const)(
  'sends what another sender has left %s since the claim, and does not give that',
  async (state) => {
    const service = new ContractService();
    const { client } = service;
    const store = new RacingStore({ state, failure: undefined });
    const outbox = new Engine(store, { client, leaseMs: undefined });
    expect(await outbox.create(order('order-1'))).toMatchObject({
      state: 'created',
      replayed: false,
    });
    expect(service.requestsFor('order-1')).toHaveLength(1);
  },
);

it('returns the record of a callback before the answer, even within the same second', async () => {
  const store = new MemoryStore({ now: Date.now, maxEntries: 10 });
  const record = (status: string) => recordOf('order-1', { referenceNumber: 'PAY-1', status });
  const client: PaymentClient = new PaymentClient({
    baseUrl: 'http://127.0.0.1:9',
    apiKey: 'key',
    apiSecret: 'secret',
    fetch: async () => {
      await outbox.settle(record('paid'), { tx: undefined });
      return Response.json(record('pending'), { status: 201 });
    },
  });
  const outbox = new Engine(store, { client, leaseMs: undefined });
  const created = await outbox.create(order('order-1'));
  expect(created).toMatchObject({ state: 'created', payment: { status: 'paid' } });
  expect(await outbox.get('order-1')).toMatchObject({ payment: { status: 'paid' } });
});

it('says that the store is slow when another call has not yet stored the payment', async () => {
  const service = new ContractService();
  const { client } = service;
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  class SlowStore extends MemoryStore {
    override async claim(claim: Claim): Promise<Claimed> {
      await answered;
      return super.claim(claim);
    }
  }
  const store = new SlowStore({ now: Date.now, maxEntries: 10 });
  const outbox = new Engine(store, { client, leaseMs: undefined });
  const first = outbox.create(order('order-1'));
  const second = outbox.create(order('order-1'), { timeoutMs: 1 });
  await expect(second).rejects.toMatchObject({
    code: 'STORE_TIMEOUT',
    message: expect.stringContaining('this one has sent nothing. Call again'),
  });
  answer();
  expect(await first).toMatchObject({ state: 'created', replayed: false });
});

it('compares a call with what is stored, not with another call beside it', async () => {
  const { client } = new ContractService();
  const outbox = new Engine(new MemoryStore({ now: Date.now, maxEntries: 10 }), {
    client,
    leaseMs: undefined,
  });
  await outbox.record(order('order-1'), { tx: undefined });
  const wrong = outbox.create({ ...order('order-1'), amount: 1 });
  const right = outbox.create(order('order-1'));
  await expect(wrong).rejects.toMatchObject({ code: 'REFERENCE_CONFLICT' });
  expect(await right).toMatchObject({ state: 'created' });
});
