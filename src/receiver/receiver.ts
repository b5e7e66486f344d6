import type { RawBody } from '../callback/body.js';
import type { CallbackHeaders } from '../callback/headers.js';
import type { VerifiedCallback, VerifyCallbackOptions } from '../callback/options.js';
import { assertSchemaAccepts, isPromiseLike, runRecordSchema } from '../callback/record.js';
import {
  CallbackVerificationError,
  InboxError,
  InvalidOptionError,
  RetryLaterError,
} from '../errors.js';
import type { ChangeId, FailedChange } from '../inbox/failed-changes.js';
import type { InboxEvent, InboxOutcome } from '../inbox/inbox.js';
import { causesOf } from '../protocol/causes.js';
import { describeValue } from '../protocol/describe-value.js';
import { parseInstant } from '../protocol/instant.js';
import type { Rule } from '../protocol/options.js';
import type { StandardSchemaV1 } from '../protocol/standard-schema.js';
import { assertBodySize, type BodyLimits, explainUnreadable, UnreadableBody } from './body.js';
import {
  changeParked,
  DeliveryFailures,
  type FailureSettings,
  findKeptChange,
  keepsFailures,
  refusalCode,
  replayImpossible,
  toCallback,
} from './kept-failures.js';
import {
  type CallbackTrace,
  createCallbackLog,
  describeCallback,
  describeError,
  describeOverdue,
  observe,
} from './observation.js';
import {
  type Awaitable,
  type CallbackReceiverOptions,
  type ResolvedReceiverOptions,
  resolveReceiverOptions,
} from './options.js';

import { Activity, type Caller, PaymentWork, type Received } from './payment-work.js';
import { acknowledge, askToRetry, type CallbackReply, fail, reject } from './reply.js';
import { BusyChanges, createOverdueReport, createStaleReport, report } from './report.js';
import { Settlement } from './settlement.js';
import { USER_CODE_TIMEOUT_MS, withUserCodeTimeout } from './user-code-timeout.js';
import { type CreateVerifier, createVerifierSource, type Verifier } from './verifier-source.js';

const OVERDUE_AFTER_MS = 600_000;

/** A request, as an adapter provides it. */
export interface IncomingCallback extends Caller {
  readonly method: string;
  readonly headers: CallbackHeaders;
  /** Called at most once, and only if the body is needed. */
  readBody(limits: BodyLimits): Awaitable<RawBody>;
}

/** The receiver that all adapters share. */
export interface ReceivingEnd {
  /** Resolves with the reply to a request. It never rejects. */
  receive(incoming: IncomingCallback): Promise<CallbackReply>;
  /** Runs a change that the inbox kept. */
  replay(change: ChangeId): Promise<CallbackReply>;
  /** Resolves as soon as no work is running, including work that exceeded its time limit. */
  idle(): Promise<void>;
  /** As `idle`, but for at most `onPaymentTimeoutMs`: work that runs longer ignores its signal. */
  close(): Promise<void>;
}

interface Receiver<Tx> extends ResolvedReceiverOptions<Tx>, ProcessingOptions<Tx> {
  readonly getVerifier: () => Awaitable<Verifier>;
  /** Undefined if the inbox keeps no failures. */
  readonly failures: FailureSettings | undefined;
}

/**
 * @param adapterRules rules for an adapter's additional options
 * @throws {InvalidOptionError} when an option is invalid
 */
export function createReceiver<Tx, Secret, Fields>(
  options: CallbackReceiverOptions<Tx, Fields, Secret>,
  createVerifier: (options: VerifyCallbackOptions<unknown, Secret>) => Verifier,
  adapterRules: Readonly<Record<string, Rule<unknown>>> = {},
): ReceivingEnd {
  const resolved = resolveReceiverOptions(options, adapterRules);
  const activity = new Activity();
  // Without the schema, which the receiver runs itself, since it can await an asynchronous one.
  let secrets: readonly unknown[] | undefined;
  const create: CreateVerifier<Secret> = (signingSecret) => {
    secrets = [signingSecret].flat();
    return createVerifier({ ...resolved.policy, signingSecret });
  };
  const { parkAfter, blockParked } = resolved;
  const failures = { parkAfter, blockParked, getSecrets: () => secrets };
  const receiver: Receiver<Tx> = {
    ...resolved,
    getVerifier: createVerifierSource(options, create),
    activity,
    settlement: resolved.outbox && new Settlement({ ...resolved, outbox: resolved.outbox }),
    failures: keepsFailures(resolved.inbox) ? failures : undefined,
    reportStale: createStaleReport(resolved.onError),
    reportOverdue: createOverdueReport(resolved.onError),
    busyChanges: new BusyChanges(),
  };
  const log = resolved.logger && createCallbackLog(resolved.logger);
  return {
    receive: (incoming) =>
      observe(incoming.method, log, (trace) => receive(receiver, incoming, trace)),
    replay: (change) => replay(receiver, change),
    idle: () => activity.idle(),
    close: () => activity.idleWithin(resolved.onPaymentTimeoutMs),
  };
}

async function receive<Tx>(
  receiver: Receiver<Tx>,
  incoming: IncomingCallback,
  trace: CallbackTrace | undefined,
): Promise<CallbackReply> {
  if (incoming.method !== 'POST') return reject(405);
  receiver.activity.begin();
  try {
    const rawBody = await incoming.readBody(receiver);
    assertBodySize(rawBody, receiver.maxBodyBytes);
    // Only promises are awaited: awaiting everything took 8% more CPU.
    const verifying = receiver.getVerifier();
    const verifier = isPromiseLike(verifying) ? await verifying : verifying;
    const verified = verifier({ rawBody, headers: incoming.headers });
    const callback = isPromiseLike(verified) ? await verified : verified;
    const accepting = accept(receiver, callback, rawBody);
    const accepted = isPromiseLike(accepting) ? await accepting : accepting;
    describeCallback(trace, accepted.callback, receiver.logReferences);
    return await processOnce(receiver, accepted, incoming, trace);
  } catch (error) {
    return answerRefusal(receiver, error, trace);
  } finally {
    receiver.activity.end();
  }
}

async function answerRefusal<Tx>(
  receiver: Receiver<Tx>,
  thrown: unknown,
  trace: CallbackTrace | undefined,
): Promise<CallbackReply> {
  const isUnreadable = thrown instanceof UnreadableBody;
  const error = isUnreadable ? explainUnreadable(thrown, receiver) : thrown;
  describeError(trace, error);
  const reply = toRefusal(thrown);
  if (isUnreadable || reply.status === 401) {
    reportRejected(receiver, error as CallbackVerificationError);
  }
  if (reply.status === 500 || reply.status === 422) {
    await report(receiver.onError, error, undefined);
  }
  return reply;
}

/**
 * Runs a change with the body that the inbox kept; the inbox's claim decides whether it was already
 * processed.
 */
async function replay<Tx>(receiver: Receiver<Tx>, change: ChangeId): Promise<CallbackReply> {
  const kept = await findKeptChange(receiver.inbox, change);
  receiver.activity.begin();
  try {
    if (kept?.rawBody === undefined) return await answerNotKept(receiver, change, kept);
    const { rawBody } = kept;
    // Only to learn the signing secret, which must not be kept with an error.
    await Promise.resolve(receiver.getVerifier()).catch(() => undefined);
    let accepted: AcceptedCallback;
    try {
      accepted = await accept(receiver, toCallback(kept, rawBody), rawBody, { replay: true });
    } catch (error) {
      return await answerRefusal(receiver, error, undefined);
    }
    return await processOnce(receiver, accepted, {}, undefined);
  } finally {
    receiver.activity.end();
  }
}

async function answerNotKept<Tx>(
  { inbox }: Receiver<Tx>,
  { key, paymentReference }: ChangeId,
  kept: FailedChange | undefined,
): Promise<CallbackReply> {
  const occurredAt = kept?.occurredAt ?? new Date(0);
  const failures = { runParked: true };
  const event = { key, paymentReference, occurredAt, processStale: true, failures };
  return toReply(await inbox.process(event, () => Promise.reject(replayImpossible(kept))));
}

function accept<Tx>(
  receiver: Receiver<Tx>,
  callback: VerifiedCallback,
  rawBody: RawBody,
  how?: { replay: boolean },
): Awaitable<AcceptedCallback> {
  const { recordSchema, processStale, settlement } = receiver;
  const failures = receiver.failures && new DeliveryFailures(receiver.failures, rawBody, how);
  const event = toInboxEvent(callback, processStale, failures);
  const payment = settlement === undefined ? callback.payment : { ...callback.payment };
  const accepted = { callback, payment, event, failures };
  // The schema runs last: it gets the record and could change it.
  return recordSchema === undefined ? accepted : checkRecordSchema(accepted, recordSchema);
}

async function checkRecordSchema(
  accepted: AcceptedCallback,
  recordSchema: StandardSchemaV1,
): Promise<AcceptedCallback> {
  const result = runRecordSchema(recordSchema, accepted.callback.payment);
  assertSchemaAccepts(
    isPromiseLike(result) ? await withUserCodeTimeout(result, schemaTimeout) : result,
  );
  return accepted;
}

function schemaTimeout(): InvalidOptionError {
  return new InvalidOptionError(
    'recordSchema',
    `recordSchema returned no result within ${USER_CODE_TIMEOUT_MS} ms, so the service got a 500 and retries; set a deadline on everything it waits for`,
  );
}

function reportRejected<Tx>({ onRejected }: Receiver<Tx>, error: CallbackVerificationError): void {
  try {
    // An asynchronous one that rejects must not end the process: anyone could cause that.
    Promise.resolve(onRejected(error)).catch(() => undefined);
  } catch {}
}

function toInboxEvent(
  { payment, key }: VerifiedCallback,
  processStale: boolean,
  failures: DeliveryFailures | undefined,
): InboxEvent {
  const { referenceNumber: paymentReference, updatedAt } = payment;
  const { occurredAt, microseconds } = parseInstant(updatedAt);
  return { key, paymentReference, occurredAt, microseconds, processStale, failures };
}

function toRefusal(error: unknown): CallbackReply {
  if (error instanceof UnreadableBody) return reject(error.status);
  if (!(error instanceof CallbackVerificationError) || error.code === 'RAW_BODY_REQUIRED') {
    return fail();
  }
  return reject(error.code === 'INVALID_RECORD' ? 422 : 401);
}

/** A verified callback, and its event for the inbox. */
interface AcceptedCallback extends Received {
  readonly event: InboxEvent;
  /** Undefined if the inbox keeps no failures. */
  readonly failures: DeliveryFailures | undefined;
}

interface ProcessingOptions<Tx>
  extends Pick<
    ResolvedReceiverOptions<Tx>,
    'inbox' | 'onPayment' | 'onPaymentTimeoutMs' | 'onError' | 'policy'
  > {
  readonly activity: Activity;
  readonly settlement: Settlement<Tx> | undefined;
  readonly reportStale: (callback: VerifiedCallback) => Promise<void>;
  readonly reportOverdue: (callback: VerifiedCallback) => Promise<void>;
  readonly busyChanges: BusyChanges;
}

/** Runs `onPayment` through the inbox and resolves with the reply. It never rejects. */
async function processOnce<Tx>(
  options: ProcessingOptions<Tx>,
  accepted: AcceptedCallback,
  caller: Caller,
  trace: CallbackTrace | undefined,
): Promise<CallbackReply> {
  const { callback, event } = accepted;
  const work = new PaymentWork(options, accepted, caller);
  try {
    const settled = await options.settlement?.settleBeforeInbox(accepted.payment);
    const processing = options.inbox.process(event, (context) => work.run(context, settled));
    const outcome = await work.inTime(processing);
    if (outcome === 'stale') await options.reportStale(callback);
    if (outcome === 'busy') await reportBusy(options, accepted, trace);
    else options.busyChanges.forget(callback.key);
    return toReply(outcome);
  } catch (error) {
    const isOver = work.late === undefined;
    if (!isOver) void reportLateFailure(options, work, error, accepted);
    const reply = await reportFailure(options, accepted, work, error, trace);
    if (reply === undefined) return answerParked(options, accepted);
    // Work that continues still has its transaction, which locks the payment's row.
    if (isOver) await settleAgain(options, work, accepted);
    return reply;
  }
}

/**
 * Reports a failure. Resolves with a reply that makes the service retry, or with `undefined` for a parked
 * change.
 */
async function reportFailure<Tx>(
  options: ProcessingOptions<Tx>,
  accepted: AcceptedCallback,
  work: PaymentWork<Tx>,
  error: unknown,
  trace: CallbackTrace | undefined,
): Promise<CallbackReply | undefined> {
  const retryLater = findRetryLater(error);
  describeError(trace, retryLater ?? error);
  if (retryLater !== undefined) {
    if (isOld(options, accepted)) {
      describeOverdue(trace);
      await report(options.onError, retryLater, accepted.callback);
    }
    return askToRetry(retryLater.retryAfterSeconds);
  }
  const refusal = work.hasBegun ? undefined : refusalCode(error);
  // A parked change was reported when it was parked.
  if (refusal !== 'CHANGE_PARKED') await report(options.onError, error, accepted.callback);
  const notKept = accepted.failures?.takeNotKept();
  if (notKept !== undefined) {
    // No list shows the failure, and it does not count towards `parkAfter`.
    describeError(trace, notKept);
    await report(options.onError, notKept, accepted.callback);
  }
  const isParked = (await reportParked(options, accepted)) || refusal !== undefined;
  // A replay's caller must learn that it failed.
  return isParked && !accepted.failures?.runParked ? undefined : fail();
}

/**
 * Settles the payment again if that was rolled back with the work, even if only the COMMIT failed. Otherwise a
 * payment that is known to be paid would stay `unresolved` until the bug is fixed, and meanwhile a person or a
 * click could create a second one.
 */
async function settleAgain<Tx>(
  { settlement }: ProcessingOptions<Tx>,
  work: PaymentWork<Tx>,
  { payment }: Received,
): Promise<void> {
  if (!work.hasSettled) return;
  // The outbox logs a failure, and the service retries.
  await settlement?.settleSeparately(payment).catch(() => undefined);
}

async function answerParked<Tx>(
  { settlement, onError }: ProcessingOptions<Tx>,
  { callback, payment }: Received,
): Promise<CallbackReply> {
  try {
    await settlement?.settleSeparately(payment);
    return acknowledge('failed');
  } catch (error) {
    await report(onError, error, callback);
    return fail();
  }
}

/** Reports that this delivery parked its change. Resolves with whether it did. */
async function reportParked<Tx>(
  { inbox, onError }: ProcessingOptions<Tx>,
  { callback, failures }: AcceptedCallback,
): Promise<boolean> {
  const attempts = failures?.takeParkedAfter();
  if (attempts === undefined) return false;
  await report(onError, changeParked(attempts, inbox.keepsBodies), callback);
  return true;
}

/**
 * Reports a change that is old and stays busy. Not at its first delivery: a service that delivers what it could not
 * deliver for hours may send two changes of a payment at once. A replay's caller sees that it is busy.
 */
async function reportBusy<Tx>(
  options: ProcessingOptions<Tx>,
  accepted: AcceptedCallback,
  trace: CallbackTrace | undefined,
): Promise<void> {
  const { callback, failures } = accepted;
  if (failures?.runParked || !isOld(options, accepted)) return;
  if (!options.busyChanges.isLong(callback.key)) return;
  describeOverdue(trace);
  await options.reportOverdue(callback);
}

/**
 * Whether a change that has to wait happened long ago: what it waits for may never come, and one day the service stops
 * retrying. A service that signs once sends each retry with the first X-Timestamp, so this machine's clock counts too.
 */
function isOld<Tx>(
  { policy }: ProcessingOptions<Tx>,
  { callback, event }: AcceptedCallback,
): boolean {
  const nowMs = Math.max(callback.timestamp.getTime(), policy.now());
  return nowMs - event.occurredAt.getTime() > OVERDUE_AFTER_MS;
}

/** An ORM or an inbox may have wrapped what `onPayment` threw. */
function findRetryLater(error: unknown): RetryLaterError | undefined {
  for (const cause of causesOf(error)) if (cause instanceof RetryLaterError) return cause;
  return undefined;
}

// The service already has its 500, so a later failure would go unnoticed. An error that only passes the
// timeout on, as code that listens to the signal throws, was already reported with it.
async function reportLateFailure<Tx>(
  options: ProcessingOptions<Tx>,
  work: PaymentWork<Tx>,
  timeout: unknown,
  accepted: AcceptedCallback,
): Promise<void> {
  const { activity } = options;
  activity.begin();
  try {
    await work.late;
  } catch (error) {
    await settleAgain(options, work, accepted);
    const isKnown = [...causesOf(error)].includes(timeout) || findRetryLater(error) !== undefined;
    if (!isKnown) await report(options.onError, error, accepted.callback);
    const notKept = accepted.failures?.takeNotKept();
    if (notKept !== undefined) await report(options.onError, notKept, accepted.callback);
    await reportParked(options, accepted);
  } finally {
    activity.end();
  }
}

function toReply(outcome: InboxOutcome): CallbackReply {
  if (outcome === 'busy') return askToRetry();
  if (outcome === 'processed' || outcome === 'duplicate' || outcome === 'stale') {
    return acknowledge(outcome);
  }
  // A merchant's own inbox may return anything: only a known outcome counts as success.
  throw new InboxError(
    'CONTRACT_VIOLATION',
    `inbox.process must resolve with 'processed', 'duplicate', 'stale' or 'busy'; received ${describeValue(outcome)}`,
  );
}
