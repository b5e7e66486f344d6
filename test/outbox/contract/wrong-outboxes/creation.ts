import type { RequestOptions } from '../../../../src/client/options.js';
import type { OutboxPayment, RecordContext } from '../../../../src/outbox/outbox.js';
import type {
  Claim,
  Claimed,
  Intent,
  Result,
  StoredPayment,
} from '../../../../src/outbox/store.js';
import type { CreatePaymentInput } from '../../../../src/protocol/payment.js';
import { NEVER, RightOutbox, RightStore, type WrongOutbox } from './wrong-outbox.js';

const ASKED_AGAIN = 'returns the stored payment when it is created again, and sends nothing';
const AT_ONCE = 'sends one of ten concurrent creations, and all return its payment';
const WAITING = 'waits for a payment that is being sent, for as long as the call may take';
const NOT_KNOWN =
  'returns unresolved, with the error, when the outcome is unknown, and does not send again';
const OTHER = 'refuses another payment under the same reference, and sends nothing';
const OTHER_RECORDED = 'refuses to record another payment under the same reference';

/** A store that stores another result than the one it received. */
function endingOtherwise(change: (result: Result) => Result): typeof RightStore {
  return class extends RightStore {
    override finish(key: string, owner: string, result: Result) {
      return super.finish(key, owner, change(result));
    }
  };
}

/** Where the sending ended with this HTTP status or outcome, it is stored as rejected. */
function rejecting(mark: string): typeof RightStore {
  return endingOtherwise((result) =>
    result.failure?.includes(mark) ? { state: 'rejected', failure: result.failure } : result,
  );
}

/** A store that grants what another is sending. */
export class GrantingStore extends RightStore {
  override async claim(claim: Claim): Promise<Claimed> {
    const { granted, stored } = await super.claim(claim);
    return { granted: granted || stored?.state === 'sending', stored };
  }
}

export const wrongCreation: readonly WrongOutbox[] = [
  {
    flaw: 'sends the three fields alone',
    caughtBy: 'sends a payment and returns the answer of the service',
    says: /two words/,
    outbox: class extends RightOutbox {
      override create(input: CreatePaymentInput, options?: RequestOptions) {
        return super.create(input, { ...options, extraBody: undefined });
      }
    },
  },
  {
    flaw: 'does not give what the service answered',
    caughtBy: 'sends a payment and returns the answer of the service',
    says: /referenceNumber must be .+; received undefined/,
    outbox: class extends RightOutbox {
      override async create(input: CreatePaymentInput, options?: RequestOptions) {
        const { payment, ...rest } = await super.create(input, options);
        return rest;
      }
    },
  },
  {
    flaw: 'forgets what is created',
    caughtBy: ASKED_AGAIN,
    says: /replayed must be true; received false/,
    store: class extends RightStore {
      override async claim(claim: Claim) {
        await super.prune(NEVER);
        return super.claim(claim);
      }
    },
  },
  {
    flaw: 'takes the same fields in another order for another payment',
    caughtBy: ASKED_AGAIN,
    says: /Another payment is stored/,
    outbox: class extends RightOutbox {
      override create(input: CreatePaymentInput, options?: RequestOptions) {
        const extraBody = { ...options?.extraBody, keys: JSON.stringify(options?.extraBody) };
        return super.create(input, { ...options, extraBody });
      }
    },
  },
  {
    flaw: 'does not compare what create asks for with what is stored',
    caughtBy: OTHER,
    says: /must reject with REFERENCE_CONFLICT/,
    store: class extends RightStore {
      override async claim(claim: Claim): Promise<Claimed> {
        const { granted, stored } = await super.claim(claim);
        const digest = claim.intent?.digest ?? '';
        return { granted, stored: stored && { ...stored, digest } };
      }
    },
  },
  {
    flaw: 'leaves extraBody out of what it compares',
    caughtBy: OTHER,
    says: /must reject with REFERENCE_CONFLICT/,
    outbox: class extends RightOutbox {
      override create(input: CreatePaymentInput) {
        return super.create(input);
      }
    },
  },
  {
    flaw: 'does not compare what record asks for with what is created',
    caughtBy: OTHER,
    says: /must reject with REFERENCE_CONFLICT/,
    store: class extends RightStore {
      override async record(key: string, intent: Intent) {
        const stored = await super.record(key, intent);
        return stored?.state === 'created' ? undefined : stored;
      }
    },
  },
  {
    flaw: 'grants what another process is sending',
    caughtBy: AT_ONCE,
    says: /it was sent more than once/,
    store: GrantingStore,
  },
  {
    flaw: 'says of every call that it sent the payment',
    caughtBy: AT_ONCE,
    says: /10 calls say that they sent it, not one/,
    outbox: class extends RightOutbox {
      override async create(input: CreatePaymentInput, options?: RequestOptions) {
        return { ...(await super.create(input, options)), replayed: false };
      }
    },
  },
  {
    flaw: 'gives what is being sent, whatever is asked for',
    caughtBy: 'refuses another payment while one is being sent under the reference',
    says: /must reject with REFERENCE_CONFLICT/,
    outbox: class extends RightOutbox {
      override async create(input: CreatePaymentInput, options?: RequestOptions) {
        const known = await this.get(input.merchantPaymentReference);
        return known?.state === 'sending' ? known : super.create(input, options);
      }
    },
  },
  {
    flaw: 'does not wait for what another call is sending',
    caughtBy: WAITING,
    says: /state must be created; received sending/,
    outbox: class extends RightOutbox {
      override async create(input: CreatePaymentInput, options?: RequestOptions) {
        const known = await this.get(input.merchantPaymentReference);
        return known?.state === 'sending' ? known : super.create(input, options);
      }
    },
  },
  {
    flaw: 'waits longer than the call may take',
    caughtBy: WAITING,
    says: /has not ended after 200 ms/,
    timeoutMs: 200,
    outbox: class extends RightOutbox {
      override create(input: CreatePaymentInput, options?: RequestOptions) {
        return super.create(input, { ...options, timeoutMs: undefined });
      }
    },
  },
  {
    flaw: 'keeps to be sent what may have been created',
    caughtBy: NOT_KNOWN,
    says: /state must be unresolved; received recorded/,
    store: endingOtherwise((result) =>
      result.state === 'unresolved' ? { ...result, state: 'recorded' } : result,
    ),
  },
  {
    flaw: 'throws the error although the payment is stored',
    caughtBy: NOT_KNOWN,
    says: /connection/,
    outbox: class extends RightOutbox {
      override async create(input: CreatePaymentInput, options?: RequestOptions) {
        const payment = await super.create(input, options);
        if (payment.error !== undefined) throw payment.error;
        return payment;
      }
    },
  },
  {
    flaw: 'does not store the failure',
    caughtBy: NOT_KNOWN,
    says: /- 'unknown'/,
    store: endingOtherwise((result) => ({ ...result, failure: undefined })),
  },
  {
    flaw: 'keeps unresolved what was created under a number that was lost',
    caughtBy: 'treats a payment as created when the body of the answer is lost',
    says: /state must be created; received unresolved/,
    store: endingOtherwise((result) =>
      result.state === 'created' && result.finding.payment === undefined
        ? { state: 'unresolved', failure: result.failure }
        : result,
    ),
  },
  {
    flaw: 'takes a 409 for a payment that does not exist',
    caughtBy: 'treats a 409 as a payment that may exist, and does not send it again',
    says: /state must be unresolved; received rejected/,
    store: rejecting('"httpStatus":409'),
  },
  {
    flaw: 'keeps the failure of an earlier attempt',
    caughtBy: 'throws the error of a rejected payment, and sends the payment once it is corrected',
    says: /the failure of an earlier attempt is kept/,
    store: class extends RightStore {
      #failure: string | undefined;
      override async finish(key: string, owner: string, result: Result) {
        this.#failure = result.failure ?? this.#failure;
        const stored = await super.finish(key, owner, result);
        return stored && { ...stored, failure: this.#failure };
      }
    },
  },
  {
    flaw: 'gives what was rejected in place of sending it again',
    caughtBy: 'throws the error of a rejected payment, and sends the payment once it is corrected',
    says: /must reject with REFUSED, but it resolved/,
    outbox: class extends RightOutbox {
      override async create(input: CreatePaymentInput, options?: RequestOptions) {
        const known = await this.get(input.merchantPaymentReference);
        return known?.state === 'rejected' ? known : super.create(input, options);
      }
    },
  },
  {
    flaw: 'gives up a payment that could not be sent',
    caughtBy: 'keeps a payment recorded when there is no connection',
    says: /state must be recorded; received rejected/,
    store: rejecting('"not-sent"'),
  },
  {
    flaw: 'gives up a payment that the service had no time for',
    caughtBy: 'keeps a payment recorded when the service answers 429',
    says: /state must be recorded; received rejected/,
    store: rejecting('"httpStatus":429'),
  },
  {
    flaw: 'stores a payment before it looks at the options',
    caughtBy: 'stores nothing for an invalid payment',
    says: /it is stored/,
    outbox: class extends RightOutbox {
      override async create(input: CreatePaymentInput, options?: RequestOptions) {
        await this.record(input, { tx: undefined });
        return super.create(input, options);
      }
    },
  },
];

/** A store that says that it has recorded what is in its way, and leaves that as it is. */
function overlooking(state: StoredPayment['state']): typeof RightStore {
  return class extends RightStore {
    override async record(key: string, intent: Intent) {
      const known = await this.read(key);
      return known?.state === state ? undefined : super.record(key, intent);
    }
  };
}

export const wrongRecording: readonly WrongOutbox[] = [
  {
    flaw: 'sends at once what is recorded',
    caughtBy: 'records a payment without sending it, and sends it later',
    says: /state must be recorded; received created/,
    outbox: class extends RightOutbox {
      override async record(input: CreatePaymentInput, context: RecordContext<unknown>) {
        await super.record(input, context);
        await this.send(input.merchantPaymentReference);
      }
    },
  },
  {
    flaw: 'records the three fields alone',
    caughtBy: 'records extraBody too',
    says: /note/,
    outbox: class extends RightOutbox {
      override record(input: CreatePaymentInput, { tx }: RecordContext<unknown>) {
        return super.record(input, { tx });
      }
    },
  },
  {
    flaw: 'records outside of the transaction',
    caughtBy: 'does not know a payment whose transaction was rolled back',
    says: /it is stored/,
  },
  {
    flaw: 'does not compare what is recorded with what it is to record',
    caughtBy: OTHER_RECORDED,
    says: /must reject with REFERENCE_CONFLICT/,
    store: overlooking('recorded'),
  },
  {
    flaw: 'does not compare what create asks for with what is recorded',
    caughtBy: OTHER_RECORDED,
    says: /must reject with REFERENCE_CONFLICT/,
    outbox: class extends RightOutbox {
      override async create(input: CreatePaymentInput, options?: RequestOptions) {
        const { merchantPaymentReference: reference } = input;
        const known = await this.get(reference);
        return known?.state === 'recorded' ? this.send(reference) : super.create(input, options);
      }
    },
  },
  {
    flaw: 'does not record what was rejected',
    caughtBy: 'records a rejected payment again, with corrections',
    says: /state must be recorded; received rejected/,
    store: overlooking('rejected'),
  },
  {
    flaw: 'records what was rejected as it was',
    caughtBy: 'records a rejected payment again, with corrections',
    says: /amount/,
    store: class extends RightStore {
      override async record(key: string, intent: Intent) {
        const known = await this.read(key);
        return super.record(key, known?.state === 'rejected' ? known : intent);
      }
    },
  },
  {
    flaw: 'gives nothing for a payment that is not stored',
    caughtBy: 'refuses to send a payment that is not stored',
    says: /must reject with UNKNOWN_REFERENCE/,
    outbox: class extends RightOutbox {
      override async send(reference: string, options?: RequestOptions): Promise<OutboxPayment> {
        const known = await this.get(reference);
        return known === undefined ? (known as never) : super.send(reference, options);
      }
    },
  },
];
