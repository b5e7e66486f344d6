import { describe, expect, expectTypeOf, it } from 'vitest';
import { type MerchantPaymentsError, PaymentClient } from '../../src/index.js';
import {
  type CallbackStore,
  memoryStore,
  type PaymentStore,
  type StatusChange,
} from '../../src/store/index.js';

/** For the compiler alone: the calls inside are checked and never made. */
function compileOnly(_use: (client: PaymentClient) => unknown): void {
  expect(_use).toBeTypeOf('function');
}

const input = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };

describe('a store', () => {
  it('creates payments only with a client', () => {
    compileOnly((client) => {
      expectTypeOf(memoryStore({ client })).toEqualTypeOf<PaymentStore>();
      expectTypeOf(memoryStore()).toEqualTypeOf<Required<CallbackStore>>();
      expectTypeOf(memoryStore({ client: undefined })).toEqualTypeOf<Required<CallbackStore>>();
    });
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

it('an item of attention is told apart by its kind', () => {
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
