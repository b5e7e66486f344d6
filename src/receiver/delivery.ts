import type { RawBody } from '../callback/body.js';
import type { VerifiedCallback } from '../callback/options.js';
import { RetryLaterError } from '../errors.js';
import { causesOf } from '../protocol/causes.js';
import { parseInstant } from '../protocol/instant.js';
import type { ChangeOutcome, StatusChange } from '../store/callback-store.js';
import type { Activity } from './activity.js';
import {
  createFailurePolicy,
  type FailureNote,
  type FailureSettings,
  refusalCode,
} from './kept-failures.js';
import type { ResolvedReceiverOptions } from './options.js';
import { type Caller, PaymentWork, type Received } from './payment-work.js';
import { assertOutcome } from './reply.js';

/** A verified callback, and its change for the store. */
export interface AcceptedCallback extends Received {
  readonly change: StatusChange;
  /** When it happened, in epoch milliseconds. */
  readonly occurredAtMs: number;
  /** Whether it is a replay of a change that the store kept. */
  readonly isReplay: boolean;
  /** The store writes into it until `process` settles. */
  readonly note: FailureNote;
}

interface AcceptOptions {
  readonly processStale: boolean;
  /** Undefined if the store keeps no failures. */
  readonly failures: FailureSettings | undefined;
  readonly isReplay: boolean;
}

export function acceptCallback(
  callback: VerifiedCallback,
  rawBody: RawBody,
  { processStale, failures, isReplay }: AcceptOptions,
): AcceptedCallback {
  const note: FailureNote = {};
  const { key } = callback;
  // The merchant's schema and code get the callback's record, and could change it.
  const payment = { ...callback.payment };
  const change: StatusChange = {
    key,
    payment,
    processStale,
    failures: failures && createFailurePolicy(failures, rawBody, { isReplay, note }),
  };
  const occurredAtMs = parseInstant(payment.updatedAt).occurredAt.getTime();
  return { callback, change, occurredAtMs, isReplay, note };
}

/** What became of a delivery. */
export type DeliveryResult = Answered | Failed;

interface Answered {
  readonly outcome: ChangeOutcome;
}

interface Failed {
  readonly outcome: undefined;
  readonly error: unknown;
  /** What `onPayment` threw to be called again later; an ORM or a store may have wrapped it. */
  readonly retryLater: RetryLaterError | undefined;
  /** The code with which the store refused to run the change. */
  readonly refusal: 'CHANGE_PARKED' | 'CHANGE_BLOCKED' | undefined;
  /** What the store did with the failure. */
  readonly note: FailureNote;
  /** What becomes of work that exceeded its time limit and continues. */
  readonly late: Promise<DeliveryResult> | undefined;
}

interface DeliveryOptions<Tx>
  extends Pick<
    ResolvedReceiverOptions<Tx>,
    'store' | 'onPayment' | 'onPaymentTimeoutMs' | 'onError'
  > {
  readonly activity: Activity;
}

/** Runs `onPayment` through the store. It never rejects. */
export async function deliver<Tx>(
  options: DeliveryOptions<Tx>,
  accepted: AcceptedCallback,
  caller: Caller,
): Promise<DeliveryResult> {
  const work = new PaymentWork(options, accepted, caller);
  try {
    const processing = options.store.process(accepted.change, (context) => work.run(context));
    return { outcome: assertOutcome(await work.inTime(processing)) };
  } catch (error) {
    const { note } = accepted;
    const { late } = work;
    if (late === undefined) return toFailed(error, work, note);
    const ended = late.then(
      (outcome) => ({ outcome }),
      (lateError) => toFailed(lateError, work, note),
    );
    return { ...toFailed(error, work, {}), late: ended };
  }
}

function toFailed<Tx>(error: unknown, work: PaymentWork<Tx>, note: FailureNote): Failed {
  return {
    outcome: undefined,
    error,
    retryLater: [...causesOf(error)].find((cause) => cause instanceof RetryLaterError),
    refusal: work.hasBegun ? undefined : refusalCode(error),
    note,
    late: undefined,
  };
}
