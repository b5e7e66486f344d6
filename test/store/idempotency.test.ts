import { describe, expect, it } from 'vitest';
import type { PaymentClientOptions } from '../../src/client/options.js';
import { memoryStore } from '../../src/store/memory.js';
import {
  createClient,
  created,
  httpAnswer,
  order,
  startRawServer,
  withoutJitter,
} from '../client/raw-server.js';

const { merchantPaymentReference: reference } = order;
const refused = httpAnswer(422, { code: 'TOO_LATE' });

type Step = string | 'reset';

/** A service, a clock that ends leases, and a store. */
async function open(
  steps: readonly Step[],
  options: Pick<PaymentClientOptions, 'idempotency' | 'maxRetries'>,
) {
  withoutJitter();
  const server = await startRawServer({
    answer({ socket }, index) {
      const step = steps[index] ?? created;
      return step === 'reset' ? void socket.resetAndDestroy() : step;
    },
  });
  let nowMs = Date.now();
  const store = memoryStore({ client: createClient(server.url, options), now: () => nowMs });
  const endLease = () => {
    nowMs += 40_000;
  };
  const keys = () => server.requests.map(({ headers }) => headers['idempotency-key']);
  return { ...server, store, endLease, keys };
}

describe.each([
  ['a header', { header: 'Idempotency-Key' }, true],
  ['its reference', 'merchantPaymentReference', false],
] as const)('a payment that the service recognises by %s', (_what, idempotency, isKeyed) => {
  it('is sent again by the client within a call of the store, whatever has become of it', async () => {
    const { store, keys } = await open(['reset', httpAnswer(503)], { idempotency });
    expect(await store.create(order)).toMatchObject({ state: 'created', attempts: 1 });
    expect(keys()).toHaveLength(3);
    expect(new Set(keys()).size).toBe(1);
    expect(keys()[0] !== undefined).toBe(isKeyed);
  });

  it('is sent again by recover, once the call before can no longer create it', async () => {
    const scene = await open(['reset'], { idempotency, maxRetries: 0 });
    const { store, endLease, keys } = scene;
    expect(await store.create(order)).toMatchObject({ state: 'unresolved' });
    expect(await store.recover()).toEqual({ resent: 0, unresolved: 0 });
    endLease();
    expect(await store.recover()).toEqual({ resent: 1, unresolved: 0 });
    expect(await store.get(reference)).toMatchObject({ state: 'created', attempts: 2 });
    expect(keys()).toHaveLength(2);
    expect(new Set(keys()).size).toBe(1);
    expect(keys()[0] !== undefined).toBe(isKeyed);
  });

  it.each([
    ['of the same call', {}],
    ['of recover', { maxRetries: 0 }],
  ])(
    'stays unresolved when a later attempt %s is refused, and can not be corrected',
    async (_whose, retries) => {
      const { store, endLease, requests } = await open(['reset', refused], {
        idempotency,
        ...retries,
      });
      await store.create(order);
      if ('maxRetries' in retries) {
        endLease();
        expect(await store.recover()).toEqual({ resent: 1, unresolved: 1 });
      }
      expect(requests).toHaveLength(2);
      expect(await store.get(reference)).toMatchObject({ state: 'unresolved' });
      await expect(store.create({ ...order, amount: 1 })).rejects.toMatchObject({
        code: 'REFERENCE_CONFLICT',
      });
      expect(await store.create(order)).toMatchObject({ state: 'unresolved', replayed: true });
      expect(requests).toHaveLength(2);
    },
  );
});
