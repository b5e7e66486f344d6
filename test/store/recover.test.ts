import { assert, describe, expect, it } from 'vitest';
import {
  ApiError,
  ConnectionError,
  type RequestError,
  RequestTimeoutError,
  StoreError,
} from '../../src/errors.js';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import type { ListKind, Page, PaymentRow } from '../../src/store/payment-row.js';
import { recover } from '../../src/store/recover.js';
import type { Turn } from '../../src/store/sending.js';
import { MEMORY } from './memory-engine.js';
import { order } from './orders.js';

/** No unresolved payment is sent again. */
const alone = { lookUp: undefined, sendsAgain: false, lifetimeMs: 900_000, logger: undefined };

class CountingBackend extends MemoryBackend {
  pages = 0;
  constructor() {
    super(MEMORY);
  }
  async find(key: string): Promise<PaymentRow> {
    const stored = await this.read(key);
    assert(stored !== undefined);
    return stored;
  }
  override list(kind: ListKind, page: Page) {
    if (kind === 'recorded') this.pages += 1;
    return super.list(kind, page);
  }
}

/** Recovers so many recorded payments, with what is thrown or given for each. */
async function recoverMany(count: number, resend: (stored: PaymentRow) => Turn) {
  const backend = new CountingBackend();
  for (let index = 0; index < count; index += 1) {
    await backend.record({ key: `order-${index}`, intent: { body: `body ${index}`, digest: '' } });
  }
  const bodies: string[] = [];
  const recovery = await recover(backend, {
    ...alone,
    async resend(key) {
      const stored = await backend.find(key);
      bodies.push(stored.body);
      return resend(stored);
    },
  }).catch((error: unknown) => error);
  return { recovery, bodies, pages: backend.pages };
}

const details = { requestOutcome: 'rejected', safeToRetry: false } as const;
const apiError = (status: number, serviceCode?: string) => {
  const requestOutcome = status >= 500 ? 'unknown' : 'rejected';
  const response = { status, headers: {}, body: '', text: '', attempts: 1 };
  return new ApiError('not accepted', { ...details, requestOutcome, response, serviceCode });
};
const throwing = (error: Error) => () => {
  throw error;
};
const failing =
  (error: RequestError) =>
  (stored: PaymentRow): Turn => ({ stored, replayed: false, error });

it('looks up every unresolved payment, of which there is more than a page', async () => {
  let nowMs = 0;
  const backend = new MemoryBackend({ ...MEMORY, now: () => nowMs });
  for (let index = 0; index < 150; index += 1) {
    const key = `order-${index}`;
    const intent = { body: JSON.stringify(order(key)), digest: '' };
    await backend.claim({ key, intent, owner: 'one', allowsRejected: true, leaseMs: 1_000 });
    await backend.finish(key, 'one', { state: 'unresolved', failure: undefined });
  }
  nowMs = 1_000;
  const looked = new Set<string>();
  await recover(backend, {
    ...alone,
    resend: () => Promise.reject(new Error('nothing is recorded')),
    async lookUp(reference) {
      looked.add(reference);
      return undefined;
    },
  });
  expect(looked.size).toBe(150);
});

describe('a pass over recorded payments', () => {
  it('takes each of 250 payments once, also when they stay recorded', async () => {
    const { recovery, bodies, pages } = await recoverMany(250, (stored) => ({
      stored,
      replayed: true,
    }));
    expect(new Set(bodies).size).toBe(250);
    expect(bodies).toHaveLength(250);
    expect(pages).toBe(3);
    expect(recovery).toEqual({ resent: 0, unresolved: 0 });
  });

  // Of a proxy, which may refuse every payment: they stay recorded.
  it.each([
    ...[400, 407, 421, 422, 451].map((status) => [status, undefined] as const),
    [400, '400'] as const,
  ])(
    'tries each payment once when a %s has no error code, or one that repeats it (%s)',
    async (status, serviceCode) => {
      const error = apiError(status, serviceCode);
      const { recovery, bodies, pages } = await recoverMany(150, failing(error));
      expect(recovery).toEqual({ resent: 100, unresolved: 0, error });
      expect(bodies).toHaveLength(100);
      expect(pages).toBe(1);
    },
  );

  const created = (stored: PaymentRow): Turn => ({
    stored: { ...stored, state: 'created' },
    replayed: false,
  });
  const unresolved =
    (error: ApiError | RequestTimeoutError) =>
    (stored: PaymentRow): Turn => ({
      stored: { ...stored, state: 'unresolved' },
      replayed: false,
      error,
    });
  const timeout = new RequestTimeoutError('too late', { ...details, requestOutcome: 'unknown' });
  const noConnection = new ConnectionError('no connection', details);

  describe.each([
    ['a 429', apiError(429), failing(apiError(429)), { resent: 1, unresolved: 0 }],
    ['a 403', apiError(403), failing(apiError(403)), { resent: 1, unresolved: 0 }],
    ['no connection', noConnection, failing(noConnection), { resent: 0, unresolved: 0 }],
    ['no answer', timeout, unresolved(timeout), { resent: 1, unresolved: 1 }],
    ['a 503', apiError(503), unresolved(apiError(503)), { resent: 1, unresolved: 1 }],
  ])('that meets %s', (_, error, resend, counts) => {
    it('stops, reports why, and leaves the other payments for the next pass', async () => {
      const { recovery, bodies, pages } = await recoverMany(150, resend);
      expect(recovery).toEqual({ ...counts, error });
      expect(bodies).toHaveLength(1);
      expect(pages).toBe(1);
    });
  });

  it('continues after a reference in use, which says nothing about the others', async () => {
    const { recovery, bodies } = await recoverMany(20, unresolved(apiError(409)));
    expect(recovery).toEqual({ resent: 20, unresolved: 20 });
    expect(bodies).toHaveLength(20);
  });

  it('sends one at a time, so that a service that fails leaves no more than one unresolved', async () => {
    let underWay = 0;
    const backend = new CountingBackend();
    for (const key of ['order-0', 'order-1', 'order-2']) {
      await backend.record({ key, intent: { body: key, digest: '' } });
    }
    const recovery = await recover(backend, {
      ...alone,
      async resend(key) {
        underWay += 1;
        expect(underWay).toBe(1);
        await new Promise(setImmediate);
        underWay -= 1;
        return created(await backend.find(key));
      },
    });
    expect(recovery).toEqual({ resent: 3, unresolved: 0 });
  });

  it.each([
    ['a 401', apiError(401)],
    ['a failure of the backend', new StoreError('STORE_FAILED', 'no database')],
  ])('throws %s, and sends no more', async (_, error) => {
    const { recovery, bodies } = await recoverMany(150, (stored) =>
      stored.body === 'body 0' ? created(stored) : throwing(error)(),
    );
    expect(recovery).toBe(error);
    expect(bodies).toHaveLength(2);
  });
});
