import type { RawBody } from '../callback/body.js';
import type { VerifiedCallback } from '../callback/options.js';
import { RetryLaterError } from '../errors.js';
import type { InboxEvent, InboxOutcome } from '../store/inbox.js';
import { causesOf } from '../protocol/causes.js';
import { parseInstant } from '../protocol/instant.js';
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
import type { Settlement } from './settlement.js';

/** A verified callback, and its event for the inbox. */
export interface AcceptedCallback extends Received {
  readonly event: InboxEvent;
  /** Whether it is a replay of a change that the inbox kept. */
  readonly isReplay: boolean;
  /** The inbox writes into it until `process` settles. */
  readonly note: FailureNote;
}

interface AcceptOptions {
  readonly processStale: boolean;
  /** Undefined if the inbox keeps no failures. */
  readonly failures: FailureSettings | undefined;
  readonly isReplay: boolean;
}

export function acceptCallback(
  callback: VerifiedCallback,
  rawBody: RawBody,
  { processStale, failures, isReplay }: AcceptOptions,
): AcceptedCallback {
  const note: FailureNote = {};
  const { payment, key } = callback;
  const { occurredAt, microseconds } = parseInstant(payment.updatedAt);
  const event: InboxEvent = {
    key,
    paymentReference: payment.referenceNumber,
    occurredAt,
    microseconds,
    processStale,
    failures: failures && createFailurePolicy(failures, rawBody, { isReplay, note }),
  };
  // The merchant's schema and code get the record, and could change it.
  return { callback, payment: { ...payment }, event, isReplay, note };
}

/** What became of a delivery. */
export type DeliveryResult = Answered | Failed;

interface Answered {
  readonly outcome: InboxOutcome;
}

interface Failed {
  readonly outcome: undefined;
  readonly error: unknown;
  /** What `onPayment` threw to be called again later; an ORM or an inbox may have wrapped it. */
  readonly retryLater: RetryLaterError | undefined;
  /** The code with which the inbox refused to run the change. */
  readonly refusal: 'CHANGE_PARKED' | 'CHANGE_BLOCKED' | undefined;
  /** What the inbox did with the failure. */
  readonly note: FailureNote;
  /** Whether the transaction that was rolled back had settled the payment. */
  readonly hadSettled: boolean;
  /** What becomes of work that exceeded its time limit and continues. */
  readonly late: Promise<DeliveryResult> | undefined;
}

interface DeliveryOptions<Tx>
  extends Pick<ResolvedReceiverOptions<Tx>, 'inbox' | 'onPayment' | 'onPaymentTimeoutMs'> {
  readonly activity: Activity;
  readonly settlement: Settlement<Tx> | undefined;
}

/** Runs `onPayment` through the inbox. It never rejects. */
export async function deliver<Tx>(
  options: DeliveryOptions<Tx>,
  accepted: AcceptedCallback,
  caller: Caller,
): Promise<DeliveryResult> {
  const work = new PaymentWork(options, accepted, caller);
  try {
    const settled = await options.settlement?.settleBeforeInbox(accepted.payment);
    const processing = options.inbox.process(accepted.event, (context) =>
      work.run(context, settled),
    );
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
    hadSettled: work.hasSettled,
    late: undefined,
  };
}
