import type { RawBody } from '../callback/body.js';
import type { VerifiedCallback, VerifyCallbackOptions } from '../callback/options.js';
import { assertSchemaAccepts, isPromiseLike, runRecordSchema } from '../callback/record.js';
import { InvalidOptionError, type RetryLaterError } from '../errors.js';
import type { Awaitable } from '../protocol/awaitable.js';
import { causesOf } from '../protocol/causes.js';
import type { Rule } from '../protocol/options.js';
import { Activity } from './activity.js';
import { authenticate, type IncomingCallback } from './authenticate.js';
import { type AcceptedCallback, acceptCallback, type DeliveryResult, deliver } from './delivery.js';
import {
  type ChangeId,
  changeParked,
  copyBody,
  type FailureSettings,
  findKeptChange,
  keepsFailures,
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
  type CallbackReceiverOptions,
  type ResolvedReceiverOptions,
  resolveReceiverOptions,
} from './options.js';
import type { Caller } from './payment-work.js';
import { answerRefusal } from './refusal.js';
import { acknowledge, askToRetry, type CallbackReply, fail, reject, replyTo } from './reply.js';
import { BusyChanges, createOverdueReport, createStaleReport, report } from './report.js';
import { USER_CODE_TIMEOUT_MS, withUserCodeTimeout } from './user-code-timeout.js';
import { type CreateVerifier, createVerifierSource, type Verifier } from './verifier-source.js';

const OVERDUE_AFTER_MS = 600_000;

/** The receiver that all adapters share. */
export interface ReceivingEnd {
  /** Resolves with the reply to a request. It never rejects. */
  receive(incoming: IncomingCallback): Promise<CallbackReply>;
  /** Runs a change that the store kept. */
  replay(change: ChangeId): Promise<CallbackReply>;
  /** Resolves as soon as no work is running, including work that exceeded its time limit. */
  idle(): Promise<void>;
  /** As `idle`, but for at most `onPaymentTimeoutMs`: work that runs longer ignores its signal. */
  close(): Promise<void>;
}

interface Receiver<Tx> extends ResolvedReceiverOptions<Tx> {
  readonly getVerifier: () => Awaitable<Verifier>;
  readonly activity: Activity;
  /** Undefined if the store keeps no failures. */
  readonly failures: FailureSettings | undefined;
  readonly reportStale: (callback: VerifiedCallback) => Promise<void>;
  readonly reportOverdue: (callback: VerifiedCallback) => Promise<void>;
  readonly busyChanges: BusyChanges;
}

type Failed = Extract<DeliveryResult, { readonly outcome: undefined }>;

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
    getVerifier: createVerifierSource(resolved as Pick<typeof options, 'signingSecret'>, create),
    activity,
    failures: keepsFailures(resolved.store) ? failures : undefined,
    reportStale: createStaleReport(resolved.onError),
    reportOverdue: createOverdueReport(resolved.onError),
    busyChanges: new BusyChanges(),
  };
  const log = createCallbackLog(resolved.logger);
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
    const callback = await authenticate(receiver, incoming);
    const { rawBody: verified } = callback;
    const rawBody = receiver.failures === undefined ? verified : copyBody(verified);
    const accepted = await accept(receiver, callback, rawBody, false);
    describeCallback(trace, accepted.callback, receiver.logReferences);
    return await processOnce(receiver, accepted, incoming, trace);
  } catch (error) {
    return answerRefusal(receiver, error, trace);
  } finally {
    receiver.activity.end();
  }
}

/** Runs a change with the body that the store kept; its claim decides whether the change was already processed. */
async function replay<Tx>(receiver: Receiver<Tx>, change: ChangeId): Promise<CallbackReply> {
  const kept = await findKeptChange(receiver.store, change);
  receiver.activity.begin();
  try {
    const callback = await toCallback(kept);
    if (kept?.rawBody === undefined || callback === undefined) {
      await report(receiver.onError, replayImpossible(kept), undefined);
      return fail();
    }
    // Only to learn the signing secret, which must not be kept with an error.
    await Promise.resolve(receiver.getVerifier()).catch(() => undefined);
    let accepted: AcceptedCallback;
    try {
      accepted = await accept(receiver, callback, kept.rawBody, true);
    } catch (error) {
      return await answerRefusal(receiver, error, undefined);
    }
    return await processOnce(receiver, accepted, {}, undefined);
  } finally {
    receiver.activity.end();
  }
}

async function accept<Tx>(
  receiver: Receiver<Tx>,
  callback: VerifiedCallback,
  rawBody: RawBody,
  isReplay: boolean,
): Promise<AcceptedCallback> {
  const accepted = acceptCallback(callback, rawBody, { ...receiver, isReplay });
  const { recordSchema } = receiver;
  if (recordSchema === undefined) return accepted;
  // The schema runs last: it gets the record and could change it.
  const result = runRecordSchema(recordSchema, callback.payment);
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

/** Delivers an accepted callback, reports what needs a person, and replies. It never rejects. */
async function processOnce<Tx>(
  receiver: Receiver<Tx>,
  accepted: AcceptedCallback,
  caller: Caller,
  trace: CallbackTrace | undefined,
): Promise<CallbackReply> {
  const result = await deliver(receiver, accepted, caller);
  if (result.outcome === undefined) return answerFailure(receiver, accepted, result, trace);
  if (result.outcome === 'stale') await receiver.reportStale(accepted.callback);
  if (result.outcome === 'busy') await reportBusy(receiver, accepted, trace);
  else receiver.busyChanges.forget(accepted.callback.key);
  return replyTo(result.outcome);
}

/** Replies to a failed delivery, so that the service retries it, unless its change is kept and parked. */
async function answerFailure<Tx>(
  receiver: Receiver<Tx>,
  accepted: AcceptedCallback,
  failed: Failed,
  trace: CallbackTrace | undefined,
): Promise<CallbackReply> {
  const { error, retryLater, refusal, note, late } = failed;
  if (late !== undefined) void reportLate(receiver, accepted, late, error);
  describeError(trace, retryLater ?? error);
  if (retryLater !== undefined) await reportRetryLater(receiver, accepted, retryLater, trace);
  // A parked change was reported when it was parked.
  else if (refusal !== 'CHANGE_PARKED') await report(receiver.onError, error, accepted.callback);
  if (retryLater === undefined) await reportNote(receiver, accepted, note, trace);
  const isParked = note.parkedAfter !== undefined || refusal !== undefined;
  // A replay's caller must learn that it failed.
  if (retryLater === undefined && isParked && !accepted.isReplay) return acknowledge('failed');
  return retryLater === undefined ? fail() : askToRetry(retryLater.retryAfterSeconds);
}

async function reportRetryLater<Tx>(
  receiver: Receiver<Tx>,
  accepted: AcceptedCallback,
  retryLater: RetryLaterError,
  trace: CallbackTrace | undefined,
): Promise<void> {
  if (!isOld(receiver, accepted)) return;
  describeOverdue(trace);
  await report(receiver.onError, retryLater, accepted.callback);
}

/** Reports a failure that no list shows, and a change that this delivery has parked. */
async function reportNote<Tx>(
  { store, onError }: Receiver<Tx>,
  { callback }: AcceptedCallback,
  { notKept, parkedAfter }: Failed['note'],
  trace?: CallbackTrace,
): Promise<void> {
  if (notKept !== undefined) {
    // It does not count towards `parkAfter` either.
    describeError(trace, notKept);
    await report(onError, notKept, callback);
  }
  if (parkedAfter !== undefined) {
    await report(onError, changeParked(parkedAfter, store.keepsBodies), callback);
  }
}

/**
 * Reports a change that is old and stays busy. Not at its first delivery: a service that delivers what it could not
 * deliver for hours may send two changes of a payment at once. A replay's caller sees that it is busy.
 */
async function reportBusy<Tx>(
  receiver: Receiver<Tx>,
  accepted: AcceptedCallback,
  trace: CallbackTrace | undefined,
): Promise<void> {
  if (accepted.isReplay || !isOld(receiver, accepted)) return;
  if (!receiver.busyChanges.isLong(accepted.callback.key)) return;
  describeOverdue(trace);
  await receiver.reportOverdue(accepted.callback);
}

/**
 * Whether a waiting change is old. What it waits for may never come, and the service eventually stops retrying. A
 * service that signs once sends each retry with the first X-Timestamp, so this machine's clock counts too.
 */
function isOld<Tx>(
  { policy }: Receiver<Tx>,
  { callback, occurredAtMs }: AcceptedCallback,
): boolean {
  const nowMs = Math.max(callback.timestamp.getTime(), policy.now());
  return nowMs - occurredAtMs > OVERDUE_AFTER_MS;
}

/**
 * Reports how work ended that had exceeded its time limit: the service already has its 500, so a failure would go
 * unnoticed. An error that only passes the timeout on, as code that listens to the signal throws, was reported with it.
 */
async function reportLate<Tx>(
  receiver: Receiver<Tx>,
  accepted: AcceptedCallback,
  late: Promise<DeliveryResult>,
  timeout: unknown,
): Promise<void> {
  receiver.activity.begin();
  try {
    const result = await late;
    if (result.outcome !== undefined) return;
    const { error, retryLater, note } = result;
    const isKnown = retryLater !== undefined || [...causesOf(error)].includes(timeout);
    if (!isKnown) await report(receiver.onError, error, accepted.callback);
    await reportNote(receiver, accepted, note);
  } finally {
    receiver.activity.end();
  }
}
