import type { VerifiedCallback } from '../callback/options.js';
import { RetryLaterError } from '../errors.js';
import type { InboxEvent, InboxOutcome } from '../inbox/inbox.js';
import type { Activity } from './activity.js';
import { causesOf } from './causes.js';
import { type CallbackTrace, describeError } from './observation.js';
import type { ResolvedReceiverOptions } from './options.js';
import { type Caller, PaymentWork } from './payment-work.js';
import { acknowledge, askToRetry, type CallbackReply, fail } from './reply.js';
import { report } from './report.js';

/** A verified callback, and what the inbox is told of it. */
export interface AcceptedCallback {
  readonly callback: VerifiedCallback;
  readonly event: InboxEvent;
}

export interface ProcessingOptions<Tx>
  extends Pick<
    ResolvedReceiverOptions<Tx>,
    'inbox' | 'onPayment' | 'onPaymentTimeoutMs' | 'onError'
  > {
  readonly activity: Activity;
  readonly reportStale: (callback: VerifiedCallback) => Promise<void>;
}

/** Has the inbox run `onPayment`, and turns what becomes of it into a reply. It never rejects. */
export async function processOnce<Tx>(
  options: ProcessingOptions<Tx>,
  { callback, event }: AcceptedCallback,
  caller: Caller,
  trace: CallbackTrace | undefined,
): Promise<CallbackReply> {
  const work = new PaymentWork(options, callback, caller);
  try {
    const processing = options.inbox.process(event, (context) => work.run(context));
    const outcome = await work.inTime(processing);
    if (outcome === 'stale') await options.reportStale(callback);
    return toReply(outcome);
  } catch (error) {
    if (work.late !== undefined) void followUp(options, work.late, error, callback);
    const retryLater = findRetryLater(error);
    describeError(trace, retryLater ?? error);
    if (retryLater !== undefined) return askToRetry(retryLater.retryAfterSeconds);
    await report(options.onError, error, callback);
    return fail();
  }
}

/** An ORM or an inbox may have wrapped what `onPayment` threw. */
function findRetryLater(error: unknown): RetryLaterError | undefined {
  for (const cause of causesOf(error)) if (cause instanceof RetryLaterError) return cause;
  return undefined;
}

// The service has its 500: a failure that follows would be seen nowhere. One that only passes the
// timeout on, as what listens to the signal does, was reported with it.
async function followUp<Tx>(
  { activity, onError }: ProcessingOptions<Tx>,
  late: Promise<InboxOutcome>,
  timeout: unknown,
  callback: VerifiedCallback,
): Promise<void> {
  activity.begin();
  try {
    await late;
  } catch (error) {
    const isKnown = [...causesOf(error)].includes(timeout) || findRetryLater(error) !== undefined;
    if (!isKnown) await report(onError, error, callback);
  } finally {
    activity.end();
  }
}

function toReply(outcome: InboxOutcome): CallbackReply {
  if (outcome === 'busy') return askToRetry();
  if (outcome === 'processed' || outcome === 'duplicate' || outcome === 'stale') {
    return acknowledge(outcome);
  }
  // An inbox of the merchant's own: what it did not say is not taken for done.
  throw new TypeError(
    `inbox.process must resolve with 'processed', 'duplicate', 'stale' or 'busy', but ${typeof outcome} came`,
  );
}
