import type { RequestOptions } from '../client/options.js';
import type { PaymentClient } from '../client/payment-client.js';
import type { CreatePaymentResult } from '../client/response.js';
import { InvalidOptionError, MerchantPaymentsError, type StoreError } from '../errors.js';
import {
  date,
  invalidOption,
  type OptionRules,
  type Resolved,
  resolveOptions,
  text,
} from '../protocol/options.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../protocol/payment.js';
import { PREPARE_CREATION, type PreparedCreation } from '../protocol/prepared-creation.js';
import { toStoredName } from './stored-name.js';
import { readAttempts, toDecision } from './decision.js';
import {
  movedOn,
  notGranted,
  notStoredInTime,
  referenceConflict,
  tooEarly,
  unknownReference,
} from './errors.js';
import { listSecondPayments, listUnresolved } from './lists.js';
import type { outboxRules } from './options.js';
import type {
  OutboxContext,
  OutboxPayment,
  PaymentOutbox,
  RecordContext,
  Recovery,
  Resolution,
  SecondPayment,
  SecondPaymentsOptions,
  SeenPayment,
  SettleOutcome,
  UnresolvedOptions,
} from './outbox.js';
import { findDifferences, toFinding, toIntent, toOutboxPayment } from './records.js';
import { recover } from './recover.js';
import { sendIfGranted, type Turn, type Wanted } from './sending.js';
import type { Intent, OutboxStore, StoredPayment } from './store.js';
import { assertNotAborted, pause, waitFor } from './waiting.js';

const LEASE_MARGIN_MS = 10_000;
const FIRST_POLL_MS = 20;
const LONGEST_POLL_MS = 1_000;

type Prepared = PreparedCreation<CreatePaymentResult>;

/** A payment that this process is sending. */
interface Running {
  /** Undefined if the payment was already recorded. */
  readonly intent: Intent | undefined;
  readonly turn: Promise<Turn>;
}

/** The outbox over any store. */
export class Engine<Tx> implements PaymentOutbox<Tx> {
  readonly #store: OutboxStore<Tx>;
  readonly #options: Resolved<typeof outboxRules>;
  readonly #running = new Map<string, Running>();

  constructor(store: OutboxStore<Tx>, { client, leaseMs }: Resolved<typeof outboxRules>) {
    this.#store = store;
    this.#options = { client, leaseMs };
    assertSendsOnce(client);
  }

  async create(input: CreatePaymentInput, options?: RequestOptions): Promise<OutboxPayment> {
    const { body, send, timeoutMs, leaseMs } = this.#prepare(input, options);
    const key = toStoredName(input.merchantPaymentReference);
    const intent = toIntent(body, options?.extraBody);
    return this.#send({ key, intent, send, options, allowsRejected: true, timeoutMs, leaseMs });
  }

  async record(input: CreatePaymentInput, context: RecordContext<Tx>): Promise<void> {
    const { tx, extraBody } = resolveOptions(context, recordRules, {
      owner: 'context',
      holds: 'tx, as in record(payment, { tx })',
    });
    if (this.#store.needsTransaction && (tx === undefined || tx === null)) {
      throw invalidOption(
        'tx',
        'your open transaction, as in record(payment, { tx })',
        tx,
        'without it, the payment would be sent even if its order is not stored',
      );
    }
    const { key, intent } = this.toRecord(input, extraBody);
    assertSame(await this.#store.record(key, intent, tx as Tx | undefined), intent);
  }

  /** @internal Validates a payment to record. */
  toRecord(input: CreatePaymentInput, extraBody: Record<string, unknown> | undefined) {
    const intent = toIntent(this.#prepare(input, { extraBody }).body, extraBody);
    return { key: toStoredName(input.merchantPaymentReference), intent };
  }

  async send(merchantPaymentReference: string, options?: RequestOptions): Promise<OutboxPayment> {
    const reference = assertReference(merchantPaymentReference);
    if (options?.extraBody !== undefined) {
      throw new InvalidOptionError(
        'extraBody',
        'extraBody must be left out: send() sends what was recorded; pass it to record()',
      );
    }
    const key = toStoredName(reference);
    const wanted = { key, intent: undefined, send: undefined, options, allowsRejected: true };
    return this.#send({ ...wanted, ...this.#limits(options) });
  }

  async settle(payment: PaymentStatusRecord, context: OutboxContext<Tx>): Promise<SettleOutcome> {
    const reference = payment?.merchantPaymentReference;
    // A reference of spaces only is valid in a callback, though the outbox never has one.
    if (reference === '' || typeof reference !== 'string') {
      throw invalidOption(
        'payment.merchantPaymentReference',
        'a string that is not empty',
        reference,
      );
    }
    const finding = toFinding({ ...payment });
    if (finding.referenceNumber === undefined) {
      throw invalidOption('payment.referenceNumber', 'a string that is not empty', undefined);
    }
    return this.#store.settle(toStoredName(reference), finding, context?.tx ?? undefined);
  }

  async get(merchantPaymentReference: string): Promise<OutboxPayment | undefined> {
    const reference = assertReference(merchantPaymentReference);
    const stored = await this.#store.read(toStoredName(reference));
    return stored && toOutboxPayment(stored, { replayed: true });
  }

  unresolved(options?: UnresolvedOptions): AsyncIterable<OutboxPayment> {
    return listUnresolved(this.#store, options);
  }

  secondPayments(options?: SecondPaymentsOptions): AsyncIterable<SecondPayment> {
    return listSecondPayments(this.#store, options);
  }

  async resolve(
    merchantPaymentReference: string,
    resolution: Resolution,
    seen: SeenPayment,
  ): Promise<void> {
    const reference = assertReference(merchantPaymentReference);
    const decision = toDecision(reference, resolution);
    const attempts = readAttempts(seen);
    const decided = await this.#store.resolve(toStoredName(reference), decision, attempts);
    if (decided === undefined) throw unknownReference();
    if (decided.outcome === 'resolved') return;
    if (decided.outcome === 'too-early') throw tooEarly(decided.leftMs);
    const { stored } = decided;
    // Its callback has settled it with the same result in the meantime.
    const found = decision.finding?.referenceNumber;
    if (found !== undefined && stored.referenceNumber === found) return;
    throw movedOn(stored, attempts);
  }

  async recover(): Promise<Recovery> {
    return recover(this.#store, (stored) => this.#resend(stored));
  }

  async prune(olderThan: Date): Promise<number> {
    return this.#store.prune(date(olderThan, 'olderThan'));
  }

  #prepare(
    input: CreatePaymentInput,
    options: RequestOptions | undefined,
  ): Omit<Prepared, 'retryUnknownOutcome'> & { leaseMs: number } {
    const { client, leaseMs: longest } = this.#options;
    const prepared: Prepared = client[PREPARE_CREATION](input, options);
    assertNoRetry(prepared);
    const { body, send, timeoutMs: asked } = prepared;
    if (longest === undefined) {
      return { body, send, timeoutMs: asked, leaseMs: asked + LEASE_MARGIN_MS };
    }
    return { body, send, timeoutMs: Math.min(asked, Math.floor(longest / 2)), leaseMs: longest };
  }

  /** The time limits of a call with these options. */
  #limits(options: RequestOptions | undefined): Pick<Wanted, 'timeoutMs' | 'leaseMs'> {
    const { timeoutMs, leaseMs } = this.#prepare(SAMPLE, options);
    return { timeoutMs, leaseMs };
  }

  async #send(wanted: Wanted): Promise<OutboxPayment> {
    const { intent, options, timeoutMs } = wanted;
    assertNotAborted(options?.signal);
    const endsAtMs = performance.now() + timeoutMs;
    for (let pauseMs = 0; ; pauseMs = nextPause(pauseMs)) {
      const turn = await this.#nextTurn(wanted, endsAtMs);
      const { stored } = turn;
      if (stored === undefined) throw notThere(intent);
      if (turn.replayed && isFree(stored, intent)) {
        // Another sender gave up between the claim and the read. If that repeats, the store is at fault: hence the pause.
        await this.#pause(pauseMs, endsAtMs, options?.signal);
        continue;
      }
      assertSame(stored, intent);
      const isOver = stored.state !== 'sending' || performance.now() >= endsAtMs;
      if (!turn.replayed || isOver) return toOutboxPayment(stored, turn);
      await this.#waitForOther(wanted, endsAtMs);
    }
  }

  async #nextTurn(wanted: Wanted, endsAtMs: number): Promise<Turn> {
    for (;;) {
      const running = this.#running.get(wanted.key);
      const turn = await (running === undefined
        ? this.#takeTurn(wanted)
        : this.#joinTurn(running, wanted, endsAtMs));
      if (turn !== undefined) return turn;
    }
  }

  /** @throws {StoreError} at the deadline */
  async #pause(pauseMs: number, endsAtMs: number, signal: AbortSignal | undefined): Promise<void> {
    const leftMs = endsAtMs - performance.now();
    if (leftMs <= 0) throw notGranted();
    if (pauseMs > 0) await pause(Math.min(pauseMs, leftMs), signal);
  }

  #takeTurn(wanted: Wanted): Promise<Turn> {
    const { client } = this.#options;
    const turn = sendIfGranted({ store: this.#store, client }, wanted, () =>
      this.#running.delete(wanted.key),
    );
    this.#running.set(wanted.key, { intent: wanted.intent, turn });
    return turn;
  }

  /** Waits for another call of this process. Resolves with undefined if this call must send the payment itself. */
  async #joinTurn(
    { intent: other, turn }: Running,
    { key, intent, options }: Wanted,
    endsAtMs: number,
  ): Promise<Turn | undefined> {
    const isTheSame = isSame(other, intent);
    if (!isTheSame) {
      // What is stored decides which of the two is wrong.
      const stored = await this.#store.read(key);
      if (stored !== undefined && !isFree(stored, intent)) assertSame(stored, intent);
    }
    const hasEnded = await waitFor(turn, endsAtMs - performance.now(), options?.signal);
    if (!hasEnded) return { stored: await this.#store.read(key), replayed: true };
    try {
      // Without the error, which belongs to the other call.
      return { stored: (await turn).stored, replayed: true };
    } catch (error) {
      if (isCallersOwn(error) || !isTheSame) return undefined;
      throw error;
    }
  }

  /** Polls until the other process that is sending the payment has finished, or until the deadline. */
  async #waitForOther({ key, options }: Wanted, endsAtMs: number): Promise<void> {
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = nextPause(pauseMs)) {
      const leftMs = endsAtMs - performance.now();
      if (leftMs <= 0) return;
      await pause(Math.min(pauseMs, leftMs), options?.signal);
      const stored = await this.#store.read(key);
      if (stored?.state !== 'sending') return;
    }
  }

  async #resend(stored: StoredPayment): Promise<Turn> {
    const { merchantPaymentReference: reference } = JSON.parse(stored.body);
    const key = toStoredName(reference);
    for (let running = this.#running.get(key); running; running = this.#running.get(key)) {
      // The other call may have been cancelled, which leaves the payment recorded: then it is sent here.
      const turn = await running.turn.catch(() => undefined);
      if (turn !== undefined) return { ...turn, replayed: true };
    }
    const wanted = { key, intent: undefined, send: undefined, options: undefined };
    // It was recorded when it was listed, but may have been rejected since.
    return this.#takeTurn({ ...wanted, ...this.#limits(undefined), allowsRejected: false });
  }
}

/** Lets a program with an unsuitable client fail at startup, not at its first payment. */
function assertSendsOnce(client: PaymentClient): void {
  let prepared: Prepared;
  try {
    prepared = client[PREPARE_CREATION](SAMPLE, undefined);
  } catch {
    return; // a variable of its environment is missing, which each call reads again
  }
  assertNoRetry(prepared);
}

function assertNoRetry({ retryUnknownOutcome }: Prepared): void {
  if (!retryUnknownOutcome) return;
  throw new InvalidOptionError(
    'client',
    'client must not have retryUnknownOutcome: it would resend a payment that may exist. Give the outbox its own client',
  );
}

function nextPause(pauseMs: number): number {
  return Math.min(Math.max(pauseMs * 2, FIRST_POLL_MS), LONGEST_POLL_MS);
}

function notThere(intent: Intent | undefined): StoreError {
  return intent === undefined ? unknownReference() : notStoredInTime();
}

/** @throws {StoreError} when both are known and differ */
export function assertSame(stored: Intent | undefined, intent: Intent | undefined): void {
  if (isSame(stored, intent)) return;
  throw referenceConflict(findDifferences((stored as Intent).body, (intent as Intent).body));
}

/** Whether they are the same payment, or one of them is not known. */
function isSame(one: Intent | undefined, other: Intent | undefined): boolean {
  return one === undefined || other === undefined || one.digest === other.digest;
}

/** Whether the payment may be claimed. */
function isFree(stored: StoredPayment, intent: Intent | undefined): boolean {
  if (stored.state === 'rejected') return true;
  return stored.state === 'recorded' && isSame(stored, intent);
}

// The other call ended by its own signal or timeout, before the service could create anything.
function isCallersOwn(error: unknown): boolean {
  return (
    error instanceof MerchantPaymentsError &&
    error.safeToRetry === true &&
    (error.code === 'ABORTED' || error.code === 'TIMEOUT')
  );
}

// The client validates options only together with a payment; for send(), the payment is already stored.
const SAMPLE = { merchantPaymentReference: 'sample', amount: 0, currency: 'XXX' };

const recordRules = {
  tx: (value: unknown) => value,
  // Validated later, as part of the payment.
  extraBody: (value: unknown) => value as Record<string, unknown> | undefined,
} satisfies OptionRules<RecordContext<unknown>>;

function assertReference(reference: unknown): string {
  return text(reference, 'merchantPaymentReference');
}
