import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  type MerchantPaymentsError,
  PaymentClient,
  type PaymentStatusRecord,
} from '../../src/index.js';
import {
  type Attention,
  type CallbackStore,
  type FailedChange,
  memoryStore,
  type PaymentStore,
  type PaymentWithoutCallback,
  type SecondPayment,
  type StatusChange,
  type StoreContext,
  type UnresolvedPayment,
} from '../../src/store/index.js';

/** For the compiler alone: the calls inside are checked and never made. */
function compileOnly(_use: (client: PaymentClient) => unknown): void {
  expect(_use).toBeTypeOf('function');
}

const listed = { merchantPaymentReference: 'order-1001', attempts: 1, listedAt: new Date() };
const input = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };

describe('a store', () => {
  it('creates payments only with a client', () => {
    compileOnly((client) => {
      expectTypeOf(memoryStore({ client })).toEqualTypeOf<PaymentStore>();
      expectTypeOf(memoryStore()).toEqualTypeOf<Required<CallbackStore>>();
      expectTypeOf(memoryStore({ client: undefined })).toEqualTypeOf<Required<CallbackStore>>();
      const alone = memoryStore();
      return [
        memoryStore({ client }).create(input),
        // @ts-expect-error no client sends it
        alone.create(input),
        // @ts-expect-error no client sends it
        alone.record(input, { tx: undefined }),
        // @ts-expect-error there is nothing to decide
        alone.markCreated('order-1001', { referenceNumber: 'PAY-1' }),
        // @ts-expect-error there is nothing to decide
        alone.markNotCreated(listed),
        // @ts-expect-error there is nothing to recover
        alone.recover(),
        // @ts-expect-error there is nothing to recover
        alone.startRecovery(),
        alone.attention(),
        alone.setup(),
        alone.prune(new Date()),
      ];
    });
  });

  it('that creates payments is one that processes callbacks', () => {
    expectTypeOf<PaymentStore>().toExtend<Required<CallbackStore>>();
    expectTypeOf<Required<CallbackStore>>().toExtend<CallbackStore>();
    expectTypeOf<Required<CallbackStore>>().not.toExtend<PaymentStore>();
  });

  it('may be written by a user, with process alone', () => {
    const own: CallbackStore = {
      async process(change: StatusChange, work) {
        const context = { current: true, secondPayment: false, order: 'order-1001' };
        const { signal } = new AbortController();
        await work({ ...context, tx: undefined, signal });
        return { outcome: change.key === '' ? 'busy' : 'processed' };
      },
    };
    expect(own.attention).toBeUndefined();
  });
});

describe('the parameters of a store', () => {
  it('name what a decision is based on, and the transaction', () => {
    compileOnly((client) => {
      const store = memoryStore({ client });
      return [
        store.markCreated('order-1001', { referenceNumber: 'PAY-1' }),
        // @ts-expect-error which payment?
        store.markCreated('order-1001'),
        store.markNotCreated(listed),
        store.markNotCreated({ ...listed, listedAt: '2026-01-31T12:00:00.000Z' }),
        // @ts-expect-error a decision about which attempt?
        store.markNotCreated({ merchantPaymentReference: 'order-1001' }),
        // @ts-expect-error such an item is discarded
        store.markNotCreated({ ...listed, kind: 'second-payment' }),
        // @ts-expect-error a payment without its order would be sent
        store.record(input),
        // @ts-expect-error a payment without its order would be sent
        store.record(input, {}),
        store.recover({ lookUp: () => undefined }),
        store.recover({ lookUp: () => 'not-created' }),
        store.recover({
          async lookUp(reference) {
            if (reference === '') return undefined;
            if (reference === 'none') return 'not-created';
            return { referenceNumber: reference, status: 'paid' };
          },
        }),
        // @ts-expect-error a number without its name
        store.recover({ lookUp: () => 'PAY-1' }),
        store.attention({ kinds: ['unresolved', 'no-callback'], olderThanMs: 1, limit: 1 }),
        // @ts-expect-error no such kind
        store.attention({ kinds: ['failed'] }),
      ];
    });
  });

  it('take the record of a verified callback', () => {
    expectTypeOf<StatusChange['payment']>().toEqualTypeOf<PaymentStatusRecord>();
    expectTypeOf<StoreContext<string>['tx']>().toEqualTypeOf<string>();
  });
});

it('an item of attention is told apart by its kind', () => {
  expectTypeOf<Attention['kind']>().toEqualTypeOf<
    'unresolved' | 'second-payment' | 'failed-change' | 'no-callback'
  >();
  expectTypeOf<Attention>().toEqualTypeOf<
    UnresolvedPayment | SecondPayment | FailedChange | PaymentWithoutCallback
  >();
  compileOnly(async (client) => {
    const store = memoryStore({ client });
    for await (const item of store.attention()) {
      expectTypeOf(item.since).toEqualTypeOf<Date>();
      if (item.kind === 'unresolved') {
        expectTypeOf(item.stored.failure).toExtend<
          { code: string; requestOutcome: string } | undefined
        >();
        await store.markNotCreated(item);
        // @ts-expect-error another program may have created the payment
        expectTypeOf(item.stored.input).toEqualTypeOf<CreatePaymentInput>();
      } else {
        await store.discard(item);
      }
    }
  });
});

it('a stored payment has a record or a failure only in the states that have one', () => {
  compileOnly(async (client) => {
    const stored = await memoryStore({ client }).create(input);
    const { error } = stored;
    expectTypeOf(error).toEqualTypeOf<MerchantPaymentsError | undefined>();
    // @ts-expect-error only a created payment has a record
    expectTypeOf(stored.payment);
    switch (stored.state) {
      case 'created':
        expectTypeOf(stored.payment?.referenceNumber).toEqualTypeOf<string | undefined>();
        return;
      case 'recorded':
      case 'rejected':
      case 'unresolved':
        return;
      default:
        expectTypeOf(stored.state).toEqualTypeOf<'sending'>();
        // @ts-expect-error it has not failed
        expectTypeOf(stored.failure);
    }
  });
});

it('a recovery stops by await using', () => {
  compileOnly(async (client) => {
    await using recovery = memoryStore({ client }).startRecovery({ everyMs: 1 });
    expectTypeOf(recovery.stop()).toEqualTypeOf<Promise<void>>();
  });
  expect(PaymentClient).toBeTypeOf('function');
});
