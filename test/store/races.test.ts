import { expect, it } from 'vitest';
import type { PaymentClient } from '../../src/client/payment-client.js';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import type { Claim, Claimed, Result } from '../../src/store/payment-row.js';
import { createClient } from '../client/raw-server.js';
import { recordOf } from '../contract/store/changes.js';
import { ContractService } from '../contract/store/service.js';
import { MEMORY, openStore } from './memory-engine.js';
import { order, settle } from './orders.js';

/** A backend in which another sender gives up between a claim and the read after it. */
class RacingBackend extends MemoryBackend {
  readonly #result: Result;
  #isFirst = true;

  constructor(result: Result) {
    super(MEMORY);
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
    const backend = new RacingBackend({ state, failure: undefined });
    const store = openStore(backend, { client, leaseMs: undefined });
    expect(await store.create(order('order-1'))).toMatchObject({
      state: 'created',
      replayed: false,
    });
    expect(service.requestsFor('order-1')).toHaveLength(1);
  },
);

it('returns the record of a callback before the answer, even within the same second', async () => {
  const backend = new MemoryBackend(MEMORY);
  const record = (status: string) => recordOf('order-1', { referenceNumber: 'PAY-1', status });
  const client: PaymentClient = createClient('http://127.0.0.1:9', {
    fetch: async () => {
      await settle(store, record('paid'));
      return Response.json(record('pending'), { status: 201 });
    },
  });
  const store = openStore(backend, { client, leaseMs: undefined });
  const created = await store.create(order('order-1'));
  expect(created).toMatchObject({ state: 'created', payment: { status: 'paid' } });
  expect(await store.get('order-1')).toMatchObject({ payment: { status: 'paid' } });
});

it('compares a call with what is stored, not with another call beside it', async () => {
  const { client } = new ContractService();
  const store = openStore(new MemoryBackend(MEMORY), { client });
  await store.record(order('order-1'), { tx: undefined });
  const wrong = store.create({ ...order('order-1'), amount: 1 });
  const right = store.create(order('order-1'));
  await expect(wrong).rejects.toMatchObject({ code: 'REFERENCE_CONFLICT' });
  expect(await right).toMatchObject({ state: 'created' });
});
