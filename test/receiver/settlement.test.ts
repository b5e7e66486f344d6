import { describe, expect, it } from 'vitest';
import { StoreError, RetryLaterError } from '../../src/errors.js';
import type { ManagedStore } from '../../src/store/callback-store.js';
import { memoryStore } from '../../src/store/memory.js';
import { memoryStore } from '../../src/store/memory.js';
import type { SettleOutcome } from '../../src/store/payment-store.js';
import type { PaymentStatusRecord } from '../../src/protocol/payment.js';
import type { StandardSchemaV1 } from '../../src/protocol/standard-schema.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { markDatabase } from '../../src/store/shared-database.js';
import { sampleRecord } from '../callback/sample-callback.js';
import { unusedClient } from '../outbox/unused-client.js';
import { createScene, post } from './scene.js';

const TX = 'the transaction of the inbox';

interface SettlingOptions extends Partial<CallbackReceiverOptions<unknown>> {
  /** Whether inbox and outbox were made from one database. */
  readonly isShared: boolean;
  /** What each call of `settle` answers, or throws. */
  readonly outcomes?: (SettleOutcome | Error)[];
  /** Fails, and rolls back, after the work. */
  readonly commit?: (working: Promise<void>) => Promise<void>;
}

/** A receiver, and the transactions in which it has the outbox settle. */
function createSettling({
  isShared,
  outcomes = [],
  commit = (working) => working,
  ...options
}: SettlingOptions) {
  const transactions: unknown[] = [];
  const payments: PaymentStatusRecord[] = [];
  const database = {};
  const memory = memoryStore();
  const store: ManagedStore<unknown> = {
    ...memory,
    process: (event, work) =>
      memory.process(event, (context) => commit(work({ ...context, tx: TX }))),
  };
  const outbox = memoryStore({ client: unusedClient });
  outbox.settle = async (payment, { tx }) => {
    transactions.push(tx);
    payments.push({ ...payment });
    const outcome = outcomes.shift() ?? 'known';
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  markDatabase(inbox, database);
  markDatabase(outbox, isShared ? database : {});
  return { scene: createScene<unknown>({ inbox, outbox, ...options }), transactions, payments };
}

describe('an outbox of the database of the inbox', () => {
  it('is settled in its transaction, once for each change', async () => {
    const { scene, transactions } = createSettling({ isShared: true });
    expect(await scene.receive(post())).toMatchObject({ outcome: 'processed' });
    expect(await scene.receive(post())).toMatchObject({ outcome: 'duplicate' });
    expect(transactions).toEqual([TX]);
  });

  it.each([
    ['500, of work that failed', new Error('broken'), 500],
    ['503, of work that asks to be retried', new RetryLaterError(), 503],
  ])('is settled again by itself for a %s', async (_, failure, status) => {
    const { scene, transactions } = createSettling({
      isShared: true,
      onPayment: () => Promise.reject(failure),
    });
    expect(await scene.receive(post())).toMatchObject({ status });
    expect(transactions).toEqual([TX, undefined]);
    expect(scene.reports).toHaveLength(status === 500 ? 1 : 0);
  });

  it('is settled again where the work was done, and its transaction could not be committed', async () => {
    const failure = new Error('a deferred constraint');
    const { scene, transactions } = createSettling({
      isShared: true,
      commit: async (working) => {
        await working;
        throw failure;
      },
    });
    expect(await scene.receive(post())).toMatchObject({ status: 500 });
    expect(transactions).toEqual([TX, undefined]);
    expect(scene.reports.map(({ error }) => error)).toEqual([failure]);
  });

  it.each([
    ['in time', undefined],
    ['too late', 1],
  ])('is settled again where the transaction is lost under the work, %s', async (_, limitMs) => {
    let end = (): void => undefined;
    const lost = new StoreError('TRANSACTION_LOST', 'the connection was lost');
    const { scene, transactions } = createSettling({
      isShared: true,
      onPaymentTimeoutMs: limitMs,
      onPayment: () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
      commit: async () => {
        await expect.poll(() => transactions.length).toBe(1);
        if (limitMs !== undefined) await expect.poll(() => scene.reports).toHaveLength(1);
        throw lost;
      },
    });
    expect(await scene.receive(post())).toMatchObject({ status: 500 });
    end();
    await scene.idle();
    expect(transactions).toEqual([TX, undefined]);
    expect(scene.reports.at(-1)).toMatchObject({ error: lost });
  });

  it('is not settled again where settling was what failed', async () => {
    const failure = new Error('no database');
    const { scene, transactions } = createSettling({ isShared: true, outcomes: [failure] });
    expect(await scene.receive(post())).toMatchObject({ status: 500 });
    expect(transactions).toEqual([TX]);
  });

  it('gets the reply to the failed work even if it could not be settled again', async () => {
    const failure = new Error('broken');
    const { scene, transactions } = createSettling({
      isShared: true,
      outcomes: ['settled', new Error('no database')],
      onPayment: () => Promise.reject(failure),
    });
    expect(await scene.receive(post())).toMatchObject({ status: 500, outcome: 'failed' });
    expect(transactions).toEqual([TX, undefined]);
    expect(scene.reports.map(({ error }) => error)).toEqual([failure]);
  });

  it('is settled again when work that took too long has failed, not before', async () => {
    let fail = (_: Error): void => undefined;
    const { scene, transactions } = createSettling({
      isShared: true,
      onPaymentTimeoutMs: 1,
      onPayment: () =>
        new Promise<void>((_, reject) => {
          fail = reject;
        }),
    });
    expect(await scene.receive(post())).toMatchObject({ status: 500 });
    expect(transactions).toEqual([TX]);
    fail(new Error('broken'));
    await scene.idle();
    expect(transactions).toEqual([TX, undefined]);
  });

  it('is settled again once where work ends by the signal of its timeout', async () => {
    const { scene, transactions } = createSettling({
      isShared: true,
      onPaymentTimeoutMs: 1,
      onPayment: (_, { signal }) =>
        new Promise<void>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    expect(await scene.receive(post())).toMatchObject({ status: 500 });
    await scene.idle();
    expect(transactions).toEqual([TX, undefined]);
  });

  it('is settled separately for a parked change, whose transaction was rolled back', async () => {
    const { scene, transactions } = createSettling({
      isShared: true,
      parkAfter: 1,
      onPayment: () => Promise.reject(new Error('broken')),
    });
    expect(await scene.receive(post())).toMatchObject({ status: 200, outcome: 'failed' });
    expect(transactions).toEqual([TX, undefined]);
  });

  it('has a parked change retried that could not be settled', async () => {
    const failure = new Error('no database');
    const { scene, transactions } = createSettling({
      isShared: true,
      parkAfter: 1,
      outcomes: ['known', failure],
      onPayment: () => Promise.reject(new Error('broken')),
    });
    expect(await scene.receive(post())).toMatchObject({ status: 500, outcome: 'failed' });
    expect(transactions).toEqual([TX, undefined]);
    expect(scene.reports.map(({ error }) => error)).toContain(failure);
  });
});

describe('an outbox of another database', () => {
  it('is settled before the inbox, by each delivery', async () => {
    const { scene, transactions } = createSettling({ isShared: false });
    expect(await scene.receive(post())).toMatchObject({ outcome: 'processed' });
    expect(await scene.receive(post())).toMatchObject({ outcome: 'duplicate' });
    expect(transactions).toEqual([undefined, undefined]);
  });

  it.each([1, undefined])(
    'is settled as received, whatever is written to it: parkAfter %s',
    async (parkAfter) => {
      const write = (payment: PaymentStatusRecord) => {
        payment.merchantPaymentReference = 'order-of-another-shop';
      };
      const recordSchema: StandardSchemaV1<unknown, PaymentStatusRecord> = {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate(value) {
            write(value as PaymentStatusRecord);
            return { value: value as PaymentStatusRecord };
          },
        },
      };
      for (const isShared of [true, false]) {
        const { scene, payments } = createSettling({
          isShared,
          parkAfter,
          recordSchema,
          onPayment({ payment }) {
            write(payment);
            throw new Error('broken');
          },
        });
        await scene.receive(post());
        expect(payments).toEqual(isShared ? [sampleRecord(), sampleRecord()] : [sampleRecord()]);
      }
    },
  );

  it('is not settled twice for a change that is parked', async () => {
    const { scene, transactions } = createSettling({
      isShared: false,
      parkAfter: 1,
      onPayment: () => Promise.reject(new Error('broken')),
    });
    expect(await scene.receive(post())).toMatchObject({ status: 200, outcome: 'failed' });
    expect(transactions).toEqual([undefined]);
  });
});

describe.each([true, false])('a second payment, with one database: %s', (isShared) => {
  it('is reported with what to do, before onPayment', async () => {
    const { scene } = createSettling({ isShared, outcomes: ['second-payment'] });
    await scene.receive(post());
    expect(scene.reports).toMatchObject([
      {
        error: {
          code: 'SECOND_PAYMENT',
          message: expect.stringMatching(
            /^The service has a second payment .+ refund one if both are paid/,
          ),
        },
        callback: scene.handled[0],
      },
    ]);
  });

  it('is handed to onSecondPayment in place of the report', async () => {
    const handed: unknown[] = [];
    const { scene } = createSettling({
      isShared,
      outcomes: ['second-payment'],
      onSecondPayment: (callback, { tx, secondPayment }) =>
        void handed.push({ callback, tx, secondPayment }),
    });
    await scene.receive(post());
    expect(handed).toEqual([{ callback: scene.handled[0], tx: TX, secondPayment: true }]);
    expect(scene.reports).toEqual([]);
  });

  it.each<SettleOutcome>(['settled', 'known', 'not-ours'])('is not %s', async (outcome) => {
    const contexts: boolean[] = [];
    const { scene } = createSettling({
      isShared,
      outcomes: [outcome],
      onPayment: (_, { secondPayment }) => void contexts.push(secondPayment),
    });
    await scene.receive(post());
    expect(contexts).toEqual([false]);
    expect(scene.reports).toEqual([]);
  });
});

describe('the options of settling', () => {
  it('refuse onSecondPayment without an outbox', () => {
    expect(() => createScene({ onSecondPayment: () => undefined })).toThrow(
      expect.objectContaining({
        option: 'onSecondPayment',
        message: expect.stringContaining('requires outbox'),
      }),
    );
  });

  it.each([null, {}, 'outbox', { settle: true }])('refuse %o as an outbox', (outbox) => {
    expect(() => createScene({ outbox: outbox as never })).toThrow(
      expect.objectContaining({ option: 'outbox' }),
    );
  });
});
