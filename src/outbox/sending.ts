import { randomUUID } from 'node:crypto';
import type { RequestOptions } from '../client/options.js';
import type { PaymentClient } from '../client/payment-client.js';
import type { CreatePaymentResult } from '../client/response.js';
import { MerchantPaymentsError, type RequestOutcome } from '../errors.js';
import { notSentInTime, outcomeNotStored } from './errors.js';
import { wasNeverSent } from './failures.js';
import type { OutboxFailure, OutboxPayment } from './outbox.js';
import { readBody, toFinding } from './records.js';
import type { Claimed, Finding, Intent, OutboxStore, Result, StoredPayment } from './store.js';
import { pause } from './waiting.js';

/** A payment that a caller wants sent. */
export interface Wanted {
  readonly key: string;
  /** Undefined when it is stored already. */
  readonly intent: Intent | undefined;
  /** Sends the intent, which the client has checked already, with a deadline in milliseconds. */
  readonly send: ((timeoutMs: number) => Promise<CreatePaymentResult>) | undefined;
  readonly options: RequestOptions | undefined;
  /** Whether it is sent again where it was rejected. Where not, no caller sees what becomes of it. */
  readonly allowsRejected: boolean;
  /** How long the call may take, in milliseconds. */
  readonly timeoutMs: number;
  /** For how long the payment is claimed: longer than that. */
  readonly leaseMs: number;
}

/** What became of it. */
export interface Turn {
  /** What is stored now; undefined when there is nothing. */
  readonly stored: StoredPayment | undefined;
  /** Whether nothing was sent. */
  readonly replayed: boolean;
  /** With what the call ended although the outcome is stored and worth returning. */
  readonly error?: MerchantPaymentsError | undefined;
  /** What is in `stored.payment`, where it is known without reading that. */
  readonly payment?: OutboxPayment['payment'];
}

/** What sending needs. */
export interface Sender {
  readonly store: OutboxStore<never>;
  readonly client: PaymentClient;
}

const MAX_CLAIMS = 5;

/**
 * Sends the payment if it may be sent.
 *
 * @param onEnd called when nothing is left to do
 * @throws {RequestError} when the service did not accept it, or nothing was sent; it is stored so
 * @throws {OutboxError} when the store fails
 */
export async function sendIfGranted(
  sender: Sender,
  wanted: Wanted,
  onEnd: () => void,
): Promise<Turn> {
  const { store } = sender;
  const { key, timeoutMs, leaseMs } = wanted;
  try {
    for (let count = 0; count < MAX_CLAIMS; count += 1) {
      const owner = randomUUID();
      const askedAtMs = performance.now();
      const { granted, stored } = await claim(store, wanted, owner);
      if (!granted || stored === undefined) return { stored, replayed: true };
      // A process that was stopped since then may have been taken for dead.
      const isGood = performance.now() - askedAtMs + timeoutMs <= leaseMs;
      if (isGood) return await send(sender, wanted, { owner, stored });
      await store.finish(key, owner, NOT_SENT, stored);
    }
    throw notSentInTime();
  } finally {
    onEnd();
  }
}

function claim(
  store: OutboxStore<never>,
  { key, intent, allowsRejected, leaseMs }: Wanted,
  owner: string,
): Promise<Claimed> {
  return store.claim({ key, intent, owner, allowsRejected, leaseMs }).catch((error) => {
    // It may have been granted and the answer lost. Nothing was sent.
    if (!wasNeverSent(error)) store.finish(key, owner, NOT_SENT, undefined).catch(() => undefined);
    throw error;
  });
}

const NOT_SENT: Result = { state: 'recorded', failure: undefined };

interface Grant {
  readonly owner: string;
  readonly stored: StoredPayment;
}

async function send(sender: Sender, wanted: Wanted, { owner, stored }: Grant): Promise<Turn> {
  const ended = await call(sender.client, wanted, stored).then(toCreated, (error) =>
    toEnded(error, wanted),
  );
  const after = await storeResult(sender.store, wanted, { owner, stored, ended });
  // A callback was faster, and says more than an error.
  const isSettled = after.state === 'created' && ended.result.state !== 'created';
  if (isSettled) return { stored: after, replayed: false };
  if (ended.thrown !== undefined) throw ended.thrown;
  const isAnswer = after.payment !== undefined && after.payment === ended.result.finding?.payment;
  const payment = isAnswer ? ended.payment : undefined;
  return { stored: after, replayed: false, error: ended.error, payment };
}

function call(
  client: PaymentClient,
  { intent, send, options, timeoutMs }: Wanted,
  { body }: StoredPayment,
): Promise<CreatePaymentResult> {
  if (send !== undefined && intent?.body === body) return send(timeoutMs);
  const { input, extraBody } = readBody(body);
  return client.payments.create(input, { ...options, extraBody, timeoutMs });
}

/** How a call ended. */
interface Ended {
  readonly result: Result;
  /** The service's record, where it gave one. */
  readonly payment?: OutboxPayment['payment'];
  /** What the caller gets beside what is stored. */
  readonly error?: MerchantPaymentsError;
  /** What the caller gets in its place. */
  readonly thrown?: unknown;
}

function created(finding: Finding, failure?: string): Result {
  return { state: 'created', finding, failure };
}

function toCreated({ payment }: CreatePaymentResult): Ended {
  return { result: created(toFinding(payment)), payment };
}

const NOTHING_KNOWN: Finding = {
  referenceNumber: undefined,
  payment: undefined,
  updatedAtUs: undefined,
};

function toEnded(error: unknown, { allowsRejected }: Wanted): Ended {
  const isOurs = error instanceof MerchantPaymentsError;
  const requestOutcome = (isOurs && error.requestOutcome) || 'unknown';
  const failure = describe(error, requestOutcome);
  if (requestOutcome === 'accepted' && isOurs) {
    return { result: created(NOTHING_KNOWN, failure), error };
  }
  // That the reference is in use may mean that an earlier attempt, or another program, has created it.
  if (requestOutcome === 'unknown' || isConflict(error)) {
    const result: Result = { state: 'unresolved', failure };
    return isOurs ? { result, error } : { result, thrown: error };
  }
  const mayBeSentAgain =
    requestOutcome === 'not-sent' ||
    statusOf(error) === TOO_MANY_REQUESTS ||
    // Once the set-up is right it is sent: without a caller, nothing else would send it.
    (!allowsRejected && isOfSetup(error));
  const state = mayBeSentAgain ? 'recorded' : 'rejected';
  return { result: { state, failure }, thrown: error };
}

const CONFLICT = 409;
const TOO_MANY_REQUESTS = 429;
const SETUP_STATUSES: ReadonlySet<unknown> = new Set([401, 403, 404, 405]);

/** Whether the service, or what stands before it, refused the client rather than this payment. */
export function isOfSetup(error: unknown): boolean {
  return SETUP_STATUSES.has(statusOf(error));
}

/** Whether the service says that the reference is in use. */
export function isConflict(error: unknown): boolean {
  return statusOf(error) === CONFLICT;
}

function statusOf(error: unknown): number | undefined {
  return (error as { readonly httpStatus?: number }).httpStatus;
}

// No message: it may say what the service said, of a customer for example.
function describe(error: unknown, requestOutcome: RequestOutcome): string {
  const code = error instanceof MerchantPaymentsError ? error.code : 'UNKNOWN';
  const failure: OutboxFailure = { code, requestOutcome, httpStatus: statusOf(error) };
  return JSON.stringify(failure);
}

// A database that changes its server is back within seconds.
const PAUSES_MS = [100, 400, 1_600];

/** Stores how the call ended, and gives what is stored then. */
async function storeResult(
  store: OutboxStore<never>,
  { key }: Wanted,
  { owner, stored: claimed, ended }: Grant & { ended: Ended },
): Promise<StoredPayment> {
  const { result } = ended;
  const what = result.state === 'created' ? 'it was created' : result.state;
  let cause: unknown;
  for (const pauseMs of [0, ...PAUSES_MS]) {
    if (pauseMs > 0) await pause(pauseMs);
    try {
      const finished = await store.finish(key, owner, result, claimed);
      const stored = finished ?? (await join(store, key, result));
      if (stored !== undefined) return stored;
      break;
    } catch (error) {
      cause = error;
    }
  }
  throw outcomeNotStored(what, cause);
}

/**
 * What is stored by another than the owner, which an old result must not overwrite. That the service has
 * the payment is never old: it is noted as a callback's word is.
 */
async function join(
  store: OutboxStore<never>,
  key: string,
  result: Result,
): Promise<StoredPayment | undefined> {
  if (result.state === 'created') {
    // The answer is the payment's first record. A callback of the same second says more.
    const finding = { ...result.finding, updatedAtUs: undefined };
    await store.settle(key, finding, undefined);
  }
  return store.read(key);
}
