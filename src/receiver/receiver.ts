import type { VerifiedCallback, VerifyCallbackOptions } from '../callback/options.js';
import { isPromiseLike } from '../callback/record.js';
import type { CallbackVerificationError } from '../errors.js';
import { causesOf } from '../protocol/describe-value.js';
import { parseInstant } from '../protocol/instant.js';
import type { Rule } from '../protocol/options.js';
import { type Awaitable, within } from '../protocol/waiting.js';
import type { StatusChange } from '../store/callback-store.js';
import { assertBodySize, explainUnreadable, UnreadableBody } from './body.js';
import {
  type ChangeId,
  changeParked,
  createFailurePolicy,
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
  type Observation,
  observe,
} from './observation.js';
import {
  type CallbackReceiverOptions,
  type ResolvedReceiverOptions,
  resolveReceiverOptions,
} from './options.js';
import { Activity, type Caller, type IncomingCallback, PaymentWork } from './payment-work.js';
import {
  type CallbackReply,
  type DeliveryResult,
  explain,
  type Failed,
  fail,
  reasonOf,
  reasonOfError,
  refuse,
  reject,
  replyTo,
  WRONG_METHOD,
} from './reply.js';
import { BusyChanges, changeOverdue, OnceAMinute, report, reportRefusal, warn } from './report.js';
import {
  assertFits,
  createVerifierSource,
  type Verification,
  type Verifier,
} from './verifier-source.js';

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
  // Without the schema, which the receiver runs itself, since it can await an asynchronous one.
  const getVerification = createVerifierSource(
    resolved.signingSecret as CallbackReceiverOptions<Tx, Fields, Secret>['signingSecret'],
    (signingSecret) => createVerifier({ ...resolved.policy, signingSecret }),
    (message) => warn(resolved.logger, message),
  );
  const receiver = new Receiver(resolved, getVerification);
  const log = createCallbackLog(resolved.logger);
  return {
    receive: (incoming) =>
      observe(incoming.method, log, (observation) => receiver.receive(incoming, observation)),
    replay: (change) => receiver.replay(change),
    idle: () => receiver.activity.idle(),
    close: () => within(resolved.onPaymentTimeoutMs, receiver.activity.idle(), () => undefined),
  };
}

/** A verified callback on its way through the store. */
interface Delivery {
  readonly callback: VerifiedCallback;
  readonly change: StatusChange;
  /** Whether it is a replay of a change that the store kept. */
  readonly isReplay: boolean;
  readonly trace: CallbackTrace | undefined;
}

const OVERDUE_AFTER_MS = 600_000;

/** From a request to its reply: it is verified, processed once by the store, and reported if it needs a person. */
class Receiver<Tx> {
  readonly activity = new Activity();
  readonly #options: ResolvedReceiverOptions<Tx>;
  readonly #getVerification: () => Awaitable<Verification>;
  readonly #overdue = new OnceAMinute();
  readonly #busyChanges = new BusyChanges();

  constructor(
    options: ResolvedReceiverOptions<Tx>,
    getVerification: () => Awaitable<Verification>,
  ) {
    this.#options = options;
    this.#getVerification = getVerification;
  }

  /** It never rejects. */
  async receive(
    incoming: IncomingCallback,
    observation: Observation | undefined,
  ): Promise<CallbackReply> {
    const trace = observation?.trace;
    if (incoming.method !== 'POST') return explain(this.#options, reject(405), WRONG_METHOD);
    return this.activity.during(async () => {
      let delivery: Delivery;
      try {
        const verified = await this.#authenticate(incoming);
        describeCallback(observation, verified.callback);
        delivery = await this.#accept({ isReplay: false, trace, ...verified });
      } catch (error) {
        return this.#refuse(error, trace);
      }
      return this.#process(delivery, incoming);
    });
  }

  /** Runs a change with the body that the store kept; its claim decides whether the change was already processed. */
  async replay(change: ChangeId): Promise<CallbackReply> {
    const kept = await findKeptChange(this.#options.store, change);
    return this.activity.during(async () => {
      const callback = await toCallback(kept);
      if (callback === undefined) {
        await report(this.#options.onError, replayImpossible(kept), undefined);
        return fail();
      }
      let delivery: Delivery;
      try {
        const secrets = await this.#findSecrets();
        delivery = await this.#accept({ callback, secrets, isReplay: true, trace: undefined });
      } catch (error) {
        return this.#refuse(error, undefined);
      }
      return this.#process(delivery, {});
    });
  }

  /** Only to keep them out of a stored error, so a replay can do without. */
  async #findSecrets(): Promise<readonly unknown[] | undefined> {
    try {
      return (await this.#getVerification()).secrets;
    } catch {
      return undefined;
    }
  }

  /**
   * Reads a request's body and verifies it. Of several forms the first that was signed counts.
   *
   * @throws {UnreadableBody} when the body broke off, took too long or is too large
   * @throws {CallbackVerificationError} when the callback must not be trusted
   */
  async #authenticate(
    incoming: IncomingCallback,
  ): Promise<Pick<Verification, 'secrets'> & Pick<Delivery, 'callback'>> {
    const bodies = await incoming.readBody(this.#options);
    for (const rawBody of bodies) assertBodySize(rawBody, this.#options.maxBodyBytes);
    // Only promises are awaited: awaiting everything took 8% more CPU.
    const verification = this.#getVerification();
    const { verify, secrets } = isPromiseLike(verification) ? await verification : verification;
    let mismatch: unknown;
    for (const rawBody of bodies) {
      try {
        const verified = verify({ rawBody, headers: incoming.headers });
        return { callback: isPromiseLike(verified) ? await verified : verified, secrets };
      } catch (error) {
        const { code } = (error ?? {}) as Partial<CallbackVerificationError>;
        if (code !== 'SIGNATURE_MISMATCH') throw error;
        mismatch ??= error;
      }
    }
    throw mismatch;
  }

  async #accept({
    callback,
    secrets,
    isReplay,
    trace,
  }: Omit<Delivery, 'change'> & {
    readonly secrets: readonly unknown[] | undefined;
  }): Promise<Delivery> {
    const { store, recordSchema } = this.#options;
    // Of the body a copy: the merchant's code may change the bytes that it gets.
    const failures = keepsFailures(store)
      ? createFailurePolicy(this.#options.parkAfter, {
          rawBody: callback.rawBody.slice(),
          secrets,
          isReplay,
        })
      : undefined;
    // A copy: the merchant's schema and code get the callback's record, and could change it.
    const payment = { ...callback.payment };
    const change = { key: callback.key, payment, failures };
    if (recordSchema !== undefined) await assertFits(callback.payment, recordSchema);
    return { callback, change, isReplay, trace };
  }

  /** Delivers an accepted callback, reports what needs a person, and replies. It never rejects. */
  async #process(delivery: Delivery, caller: Caller): Promise<CallbackReply> {
    const { callback, change } = delivery;
    const work = new PaymentWork(this.#options, { callback, caller, activity: this.activity });
    const result = await work.deliver(change);
    if (result.outcome === undefined) await this.#reportFailure(delivery, result);
    if (result.outcome === 'busy') await this.#reportBusy(delivery);
    else if (result.outcome !== undefined) this.#busyChanges.forget(callback.key);
    return explain(this.#options, replyTo(result, delivery.isReplay), reasonOf(result));
  }

  async #reportFailure(delivery: Delivery, failed: Failed): Promise<void> {
    const { callback, trace } = delivery;
    const { error, retryLater, isParked, late } = failed;
    if (late !== undefined) void this.#reportLate(delivery, late, error);
    describeError(trace, retryLater ?? error);
    if (retryLater !== undefined) {
      if (!this.#isOld(delivery)) return;
      if (trace !== undefined) trace.overdue = true;
      await report(this.#options.onError, retryLater, callback);
      return;
    }
    // A parked change was reported when it was parked.
    if (!isParked) await report(this.#options.onError, error, callback);
    await this.#reportKept(failed.kept, callback, trace);
  }

  /** Reports a failure that no list shows, and a change that this delivery has parked. */
  async #reportKept(
    { notKept, parkedAfter }: Failed['kept'],
    callback: VerifiedCallback,
    trace?: CallbackTrace,
  ): Promise<void> {
    const { onError } = this.#options;
    if (notKept !== undefined) {
      // It does not count towards `parkAfter` either.
      describeError(trace, notKept);
      await report(onError, notKept, callback);
    }
    if (parkedAfter !== undefined) {
      const parked = changeParked(parkedAfter);
      describeError(trace, parked);
      await report(onError, parked, callback);
    }
  }

  /**
   * Reports how work ended that had exceeded its time limit: the service already has its 500, so a failure would go
   * unnoticed. An error that only passes the timeout on, as code that listens to the signal throws, was reported with it.
   */
  async #reportLate(
    { callback }: Delivery,
    late: Promise<DeliveryResult>,
    timeout: unknown,
  ): Promise<void> {
    await this.activity.during(async () => {
      const result = await late;
      if (result.outcome !== undefined) return;
      const { error, retryLater, kept } = result;
      const isKnown = retryLater !== undefined || [...causesOf(error)].includes(timeout);
      if (!isKnown) await report(this.#options.onError, error, callback);
      await this.#reportKept(kept, callback);
    });
  }

  /**
   * Reports a change that is old and stays busy. Not at its first delivery: a service that delivers what it could not
   * deliver for hours may send two changes of a payment at once. A replay's caller sees that it is busy.
   */
  async #reportBusy(delivery: Delivery): Promise<void> {
    const { callback, isReplay, trace } = delivery;
    if (isReplay || !this.#isOld(delivery) || !this.#busyChanges.isLong(callback.key)) return;
    if (trace !== undefined) trace.overdue = true;
    // It may happen to many changes at once.
    const skipped = this.#overdue.take('CHANGE_OVERDUE');
    if (skipped === undefined) return;
    await report(this.#options.onError, changeOverdue(skipped), callback);
  }

  /**
   * Whether a waiting change is old. What it waits for may never come, and the service eventually stops retrying. A
   * service that signs once sends each retry with the first X-Timestamp, so this machine's clock counts too.
   */
  #isOld({ callback, change }: Delivery): boolean {
    const occurredAtMs = parseInstant(change.payment.updatedAt).occurredAt.getTime();
    const nowMs = Math.max(callback.timestamp.getTime(), this.#options.policy.now());
    return nowMs - occurredAtMs > OVERDUE_AFTER_MS;
  }

  /** Replies to a request that is no callback to process, and reports why. */
  async #refuse(thrown: unknown, trace: CallbackTrace | undefined): Promise<CallbackReply> {
    const isUnreadable = thrown instanceof UnreadableBody;
    const error = isUnreadable ? explainUnreadable(thrown, this.#options) : thrown;
    describeError(trace, error);
    const reply = refuse(thrown);
    await reportRefusal(this.#options, reply.status, error);
    return explain(this.#options, reply, reasonOfError(error));
  }
}
