import { assertRawBody } from '../callback/body.js';
import { checkHeaders, type Verification } from '../callback/checks.js';
import type { CallbackVerificationError } from '../errors.js';
import { causesOf } from '../protocol/describe-value.js';
import { parseInstant } from '../protocol/instant.js';
import type { Rule } from '../protocol/options.js';
import { type Awaitable, isPromiseLike, within } from '../protocol/waiting.js';
import { assertBodySize } from './body.js';
import {
  Activity,
  type Delivered,
  type Delivery,
  deliver,
  type FailedDelivery,
  type IncomingCallback,
} from './delivery.js';
import {
  type ChangeId,
  changeIsParked,
  changeParked,
  findKeptChange,
  readKeptChange,
  replayImpossible,
} from './kept-failures.js';
import { createCallbackLog, observe, type Received } from './observation.js';
import {
  type CallbackReceiverOptions,
  type ResolvedReceiverOptions,
  resolveReceiverOptions,
} from './options.js';
import {
  type CallbackReply,
  explained,
  fail,
  reasonOf,
  reasonOfError,
  refuse,
  reject,
  replyTo,
} from './reply.js';
import { BusyChanges, changeOverdue, OnceAMinute, report, reportRefusal, warn } from './report.js';
import {
  assertFits,
  type CurrentVerifier,
  createVerifierSource,
  type PrepareSecrets,
} from './verifier-source.js';

/** What every handler has besides its call. */
export interface ReceivedWork {
  /**
   * Runs `onPayment` for a failed change, with the body that the store kept. That was verified when it was received, so
   * neither its age nor its signature is checked again. A replay goes through the store like a delivery: of two at
   * once only one runs. `callback.timestamp` is when the change last failed. Offer it to staff only.
   *
   * @returns as for a delivery, but `failed` (500, and `onError` is called) whenever it failed: with `REPLAY_IMPOSSIBLE` if
   * the change is no longer kept, `prune` has removed its body, or the body is another change's
   * @throws {InvalidOptionError} when `change` is not an object with `key` and `referenceNumber`
   * @throws {StoreError} `REPLAY_IMPOSSIBLE` when the store keeps no failures; another code when it can't be read
   */
  replay(change: ChangeId): Promise<CallbackReply>;
  /**
   * Resolves as soon as no callback is being processed; an `onPayment` that runs on after its timeout counts
   * too. Stop accepting requests first. To wait for a limited time, race it with a timer.
   */
  idle(): Promise<void>;
}

/** The receiver that all adapters share. */
export interface ReceivingEnd extends ReceivedWork {
  /** Resolves with the reply to a request. It never rejects. */
  receive(incoming: IncomingCallback): Promise<CallbackReply>;
  /** As `idle`, but for at most `onPaymentTimeoutMs`: work that runs longer ignores its signal. */
  close(): Promise<void>;
  /** Reports a call that is no request, such as that of another framework. */
  report(error: unknown): Promise<void>;
}

/** @param adapterRules rules for an adapter's additional options */
export function createReceiver<Tx, Fields>(
  options: CallbackReceiverOptions<Tx, Fields>,
  prepareSecrets: PrepareSecrets,
  adapterRules: Readonly<Record<string, Rule<unknown>>> = {},
): ReceivingEnd {
  const resolved = resolveReceiverOptions(options, adapterRules);
  const getVerifier = createVerifierSource(
    resolved.signingSecret as CallbackReceiverOptions['signingSecret'],
    prepareSecrets,
    (message) => warn(resolved.logger, message),
  );
  const receiver = new Receiver(resolved, getVerifier);
  const log = createCallbackLog(resolved.logger);
  return {
    receive: (incoming) => observe(incoming.method, log, () => receiver.receive(incoming)),
    replay: (change) => receiver.replay(change),
    idle: () => receiver.activity.idle(),
    close: () => within(resolved.onPaymentTimeoutMs, receiver.activity.idle(), () => undefined),
    report: (error) => receiver.report(error),
  };
}

const OVERDUE_AFTER_MS = 600_000;

/** From a request to its reply: it is verified, processed once by the store, and reported if it needs a person. */
class Receiver<Tx> {
  readonly activity = new Activity();
  readonly #options: ResolvedReceiverOptions<Tx>;
  readonly #getVerifier: () => Awaitable<CurrentVerifier>;
  readonly #limit = new OnceAMinute();
  readonly #busyChanges = new BusyChanges();

  constructor(options: ResolvedReceiverOptions<Tx>, getVerifier: () => Awaitable<CurrentVerifier>) {
    this.#options = options;
    this.#getVerifier = getVerifier;
  }

  /** It never rejects. */
  async receive(incoming: IncomingCallback): Promise<Received> {
    const { explainAnswers } = this.#options;
    if (incoming.method !== 'POST') {
      const reason = { code: 'METHOD_NOT_ALLOWED', message: 'A callback is sent by POST' };
      return { reply: explainAnswers ? explained(reject(405), reason) : reject(405) };
    }
    this.activity.begin();
    try {
      return await this.#process(await this.#verify(incoming));
    } catch (error) {
      return await this.#refuse(error);
    } finally {
      this.activity.end();
    }
  }

  /** Runs a change with the body that the store kept; its claim decides whether the change was already processed. */
  async replay(change: ChangeId): Promise<CallbackReply> {
    const kept = await findKeptChange(this.#options.store, change);
    this.activity.begin();
    try {
      const verification = readKeptChange(kept);
      if (verification === undefined) {
        await report(this.#options.onError, replayImpossible(kept));
        return fail();
      }
      const secrets = await this.#findSecrets();
      const delivery = toDelivery(verification, { secrets, isReplay: true, caller: {} });
      return (await this.#process(delivery)).reply;
    } finally {
      this.activity.end();
    }
  }

  /** Only to keep them out of a stored error, so a replay can do without. */
  async #findSecrets(): Promise<readonly unknown[] | undefined> {
    try {
      return (await this.#getVerifier()).secrets;
    } catch {
      return undefined;
    }
  }

  /**
   * Verifies a request: its headers before its body is read, since anyone may send one. Of several forms of the body
   * the first that was signed counts.
   */
  async #verify(incoming: IncomingCallback): Promise<Delivery> {
    const signing = checkHeaders(incoming.headers, this.#options);
    // Only promises are awaited: awaiting everything takes 8% more CPU.
    const reading = incoming.readBody(this.#options);
    const given = isPromiseLike(reading) ? await reading : reading;
    const bodies = given.map((body) => assertBodySize(assertRawBody(body), this.#options));
    const getting = this.#getVerifier();
    const { verify, secrets } = isPromiseLike(getting) ? await getting : getting;
    let mismatch: unknown;
    for (const body of bodies) {
      try {
        const verifying = verify(signing, body);
        const verification = isPromiseLike(verifying) ? await verifying : verifying;
        return toDelivery(verification, { secrets, isReplay: false, caller: incoming });
      } catch (error) {
        const { code } = (error ?? {}) as Partial<CallbackVerificationError>;
        if (code !== 'SIGNATURE_MISMATCH') throw error;
        mismatch ??= error;
      }
    }
    throw mismatch;
  }

  /** Has the merchant's schema check the record, delivers the change, reports what needs a person, and replies. */
  async #process(delivery: Delivery): Promise<Received> {
    const { recordSchema, explainAnswers } = this.#options;
    try {
      if (recordSchema !== undefined) await assertFits(delivery.callback.payment, recordSchema);
    } catch (error) {
      return this.#refuse(error, delivery);
    }
    const delivered = await deliver(this.#options, delivery, this.activity);
    let reply = replyTo(delivered, delivery.isReplay);
    if (explainAnswers) reply = explained(reply, reasonOf(delivered));
    switch (delivered.outcome) {
      case 'busy':
        return { reply, delivery, isOverdue: await this.#reportBusy(delivery) };
      case 'failed':
        return { reply, delivery, ...(await this.#reportFailure(delivery, delivered)) };
      case 'parked':
        // It was reported when it was parked.
        return { reply, delivery, error: changeIsParked() };
      default:
        this.#busyChanges.forget(delivery.key);
        return { reply, delivery };
    }
  }

  /** Returns what the log and the channel tell of the failure. */
  async #reportFailure(
    delivery: Delivery,
    failed: FailedDelivery,
  ): Promise<Pick<Received, 'error' | 'isOverdue'>> {
    const { error, retryLater, late } = failed;
    if (late !== undefined) void this.#reportLate(delivery, late, error);
    if (retryLater !== undefined) {
      const isOverdue = this.#isOld(delivery);
      if (isOverdue) await report(this.#options.onError, retryLater, delivery.callback);
      return { error: retryLater, isOverdue };
    }
    await report(this.#options.onError, error, delivery.callback);
    return { error: (await this.#reportKept(delivery, failed)) ?? error };
  }

  /** Reports a failure that no list shows, and a change that this delivery has parked; returns the last error. */
  async #reportKept(
    { callback }: Delivery,
    { notKept, parkedAfter }: FailedDelivery,
  ): Promise<unknown> {
    const parked = parkedAfter === undefined ? undefined : changeParked(parkedAfter);
    const errors = [notKept, parked].filter((error) => error !== undefined);
    for (const error of errors) await report(this.#options.onError, error, callback);
    return errors.at(-1);
  }

  /**
   * Reports how work ended that had exceeded its time limit: the service already has its 500, so a failure would go
   * unnoticed. An error that only passes the timeout on, as code that listens to the signal throws, was reported with it.
   */
  async #reportLate(delivery: Delivery, late: Promise<Delivered>, timeout: unknown): Promise<void> {
    this.activity.begin();
    const delivered = await late;
    if (delivered.outcome === 'failed') {
      const { error, retryLater } = delivered;
      const isKnown = retryLater !== undefined || [...causesOf(error)].includes(timeout);
      if (!isKnown) await report(this.#options.onError, error, delivery.callback);
      await this.#reportKept(delivery, delivered);
    }
    this.activity.end();
  }

  /**
   * Reports a change that is old and stays busy. Not at its first delivery: a service that delivers what it could not
   * deliver for hours may send two changes of a payment at once. A replay's caller sees that it is busy. Returns whether
   * it is such a change.
   */
  async #reportBusy(delivery: Delivery): Promise<boolean> {
    const { callback, key, isReplay } = delivery;
    if (isReplay || !this.#isOld(delivery) || !this.#busyChanges.isLong(key)) return false;
    const skipped = this.#limit.take('RETRY_LATER');
    if (skipped !== undefined)
      await report(this.#options.onError, changeOverdue(skipped), callback);
    return true;
  }

  /**
   * Whether a waiting change is old. What it waits for may never come, and the service eventually stops retrying. A
   * service that signs once sends each retry with the first X-Timestamp, so this machine's clock counts too.
   */
  #isOld({ callback, payment }: Delivery): boolean {
    const occurredAtMs = parseInstant(payment.updatedAt).occurredAt.getTime();
    const nowMs = Math.max(callback.timestamp.getTime(), this.#options.now());
    return nowMs - occurredAtMs > OVERDUE_AFTER_MS;
  }

  report(error: unknown): Promise<void> {
    return reportRefusal(this.#options, { status: 500, error, limit: this.#limit });
  }

  /** Replies to a request that is no callback to process, and reports why. */
  async #refuse(error: unknown, delivery?: Delivery): Promise<Received> {
    const reply = refuse(error);
    // An authentic callback is always reported.
    const limit = delivery === undefined ? this.#limit : undefined;
    await reportRefusal(this.#options, { status: reply.status, error, limit });
    const { explainAnswers } = this.#options;
    return {
      reply: explainAnswers ? explained(reply, reasonOfError(error)) : reply,
      error,
      ...(delivery && { delivery }),
    };
  }
}

function toDelivery(
  { callback, text }: Verification,
  given: Pick<Delivery, 'secrets' | 'isReplay' | 'caller'>,
): Delivery {
  // A copy of the record: the merchant's schema and code get the callback's own, and could change it.
  return { callback, text, key: callback.key, payment: { ...callback.payment }, ...given };
}
