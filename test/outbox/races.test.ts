import { expect, it } from 'vitest';
import { ContractService } from '../../src/outbox/contract/service.js';
import { Engine } from '../../src/outbox/engine.js';
import { MemoryStore } from '../../src/outbox/memory-store.js';
import type { Claim, Claimed, Result } from '../../src/outbox/store.js';
import { order } from './settling-scene.js';

/** A store of which another sender gives up between a claim and the look at what stood in its way. */
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
