import type { RequestOptions } from '../client/options.js';
import type { CreatePaymentResult } from '../client/response.js';
import type { MerchantPaymentsError } from '../errors.js';
import { prepareCreation } from '../protocol/prepared-creation.js';
import { startStopwatch } from '../protocol/waiting.js';
import type { Tables } from './backend.js';
import { ofAnswer, ofError } from './call-end.js';
import {
  assertSame,
  isSame,
  notGranted,
  notReplaceable,
  notSentInTime,
  outcomeNotStored,
  referenceOfAttempt,
  unknownReference,
  wasNeverSent,
} from './errors.js';
import type { StoreClient } from './options.js';
import { isOver } from './order-steps.js';
import type { Claim, Claimed, Intent, PaymentRow, Result, Statuses } from './payment-row.js';
import { readBody } from './records.js';
import { mayBeOrder } from './steps.js';
import { assertNotAborted, pause } from './waiting.js';

/** A payment that a caller wants sent. Without an `intent` it is already stored. */
export interface Wanted extends Omit<Claim, 'owner'> {
  /** Sends the intent, which the client has already validated, with a timeout in milliseconds. */
  readonly send?: (timeoutMs: number) => Promise<CreatePaymentResult>;
  readonly options: RequestOptions | undefined;
  /** The statuses after which a call for the order means another attempt than this one. */
  readonly declined?: Statuses | undefined;
  /** How long the call may take, in milliseconds: less than `leaseMs`. */
  readonly timeoutMs: number;
}

export interface Turn extends Omit<Claimed, 'granted'> {
  /** Whether nothing was sent. */
  readonly replayed: boolean;
  /** The client's error, if the call that sent the payment has got one. */
  readonly error?: MerchantPaymentsError | undefined;
}

export interface Sender {
  readonly backend: Tables;
  readonly client: StoreClient;
}

const MAX_CLAIMS = 5;

/**
 * Claims the payment and, if the claim is granted, sends it.
 *
 * @throws {MerchantPaymentsError} for credentials, options, or a signal that ended the call before anything was sent
 */
export async function sendIfGranted(sender: Sender, wanted: Wanted): Promise<Turn> {
  const { backend } = sender;
  const { key, timeoutMs, leaseMs } = wanted;
  for (let count = 0; count < MAX_CLAIMS; count += 1) {
    const owner = crypto.randomUUID();
    const elapsed = startStopwatch();
    const { granted, stored, isPaid } = await claim(backend, wanted, owner);
    if (!granted || stored === undefined) return { stored, replayed: true, isPaid };
    // If this process was suspended meanwhile, the lease may not last for the call.
    const isLongEnough = elapsed() + timeoutMs <= leaseMs;
    if (isLongEnough) return await send(sender, wanted, { owner, stored });
    await backend.finish(key, owner, released(wanted), stored);
  }
  throw notSentInTime();
}

function claim(backend: Tables, wanted: Wanted, owner: string): Promise<Claimed> {
  const { key, intent, allowsRejected, isRepetition, leaseMs } = wanted;
  return backend
    .claim({ key, intent, owner, allowsRejected, isRepetition, leaseMs })
    .catch((error) => {
      // It may have been granted and only its answer lost: nothing is sent. Nor is a claim that never left a full pool.
      if (!wasNeverSent(error)) {
        backend.finish(key, owner, released(wanted), undefined).catch(() => undefined);
      }
      throw error;
    });
}

/** What a payment is again whose claim ends without a request. */
function released({ isRepetition }: Wanted): Result {
  return { state: isRepetition ? 'unresolved' : 'recorded', failure: undefined };
}

type Grant = Pick<Claim, 'owner'> & { readonly stored: PaymentRow };

async function send({ backend, client }: Sender, wanted: Wanted, grant: Grant): Promise<Turn> {
  const { result, error, thrown } = await call(client, wanted, grant.stored).then(
    ({ payment }) => ofAnswer(payment, grant.stored, backend.forms),
    (failure) => ofError(failure, wanted),
  );
  const stored = await storeResult(backend, wanted.key, { ...grant, result });
  // A callback was faster, and its record is worth more than the error.
  const isSettled = stored.state === 'created' && result.state !== 'created';
  if (thrown !== undefined && !isSettled) throw thrown;
  return { stored, replayed: false, error: isSettled ? undefined : error };
}

async function call(
  client: StoreClient,
  { intent, send, options, timeoutMs }: Wanted,
  { body }: PaymentRow,
): Promise<CreatePaymentResult> {
  if (send !== undefined && intent?.body === body) return send(timeoutMs);
  const { input, extraBody } = readBody(body);
  return prepareCreation(client, input, { ...options, extraBody }).send(timeoutMs);
}

// A database that fails over is usually back within seconds.
const PAUSES_MS = [0, 100, 400, 1_600];

/**
 * Stores the end of the call, and returns what is then stored. A sender that is no longer the owner must not overwrite what
 * others have stored, but that a payment exists never expires: it is settled as by a callback.
 */
async function storeResult(
  backend: Tables,
  key: string,
  { owner, stored: claimed, result }: Grant & { readonly result: Result },
): Promise<PaymentRow> {
  const what = result.state === 'created' ? 'it was created' : result.state;
  let cause: unknown;
  for (const pauseMs of PAUSES_MS) {
    if (pauseMs > 0) await pause(pauseMs);
    try {
      const finished = await backend.finish(key, owner, result, claimed);
      if (finished !== undefined) return finished;
      if (result.serviceRecord !== undefined) await backend.settle(key, result.serviceRecord);
      const stored = await backend.read(key);
      if (stored !== undefined) return stored;
      break;
    } catch (error) {
      cause = error;
    }
  }
  throw outcomeNotStored(what, cause);
}

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

/** What became of a payment that was to be sent. */
export interface Sent extends Turn {
  readonly stored: PaymentRow;
  /** Whether a call for the order means another attempt than this one. */
  readonly isOver: boolean;
}

/** Sends the payment, or waits for the caller that does, in this process or another, until the call's deadline. */
export async function sendOrWait(sender: Sender, wanted: Wanted): Promise<Sent> {
  const { options, timeoutMs } = wanted;
  assertNotAborted(options?.signal);
  const endsAtMs = performance.now() + timeoutMs;
  for (let pauseMs = 0; ; pauseMs = nextPause(pauseMs)) {
    const turn = await sendIfGranted(sender, wanted);
    const leftMs = endsAtMs - performance.now();
    const next = nextStep(turn, wanted, leftMs <= 0);
    if (next === 'return' || next === 'return-over') {
      return { ...turn, stored: turn.stored as PaymentRow, isOver: next === 'return-over' };
    }
    if (next === 'wait') await waitForOther(sender, wanted, endsAtMs);
    // At first, another sender gave up between the claim and the read. If that repeats, the store is at fault.
    else if (pauseMs > 0) await pause(Math.min(pauseMs, leftMs), options?.signal);
  }
}

/** Polls until the caller that is sending the payment has finished, or until the deadline. */
async function waitForOther(
  { backend }: Sender,
  { key, options }: Wanted,
  endsAtMs: number,
): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = nextPause(pauseMs)) {
    const leftMs = endsAtMs - performance.now();
    if (leftMs <= 0) return;
    await pause(Math.min(pauseMs, leftMs), options?.signal);
    const stored = await backend.read(key);
    if (stored?.state !== 'sending') return;
  }
}

function nextPause(pauseMs: number): number {
  return Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
}

/** @throws {StoreError} when nothing is stored, another payment is, or the payment can't be claimed in time */
function nextStep(
  { stored, replayed, isPaid }: Turn,
  { intent, declined }: Wanted,
  isLate: boolean,
): 'return' | 'return-over' | 'claim' | 'wait' {
  if (stored === undefined) throw unknownReference();
  if (!mayBeOrder(stored, intent)) throw referenceOfAttempt();
  if (replayed && declined && (isPaid || isOver(stored, declined))) return 'return-over';
  if (isPaid) throw notReplaceable('paid');
  if (replayed && isFree(stored, intent)) {
    if (isLate) throw notGranted();
    return 'claim';
  }
  assertSame(stored, intent);
  return replayed && stored.state === 'sending' && !isLate ? 'wait' : 'return';
}

/** Whether the payment may be claimed. */
function isFree(stored: PaymentRow, intent: Intent | undefined): boolean {
  if (stored.replacedBy !== undefined) return false;
  if (stored.state === 'rejected') return true;
  return stored.state === 'recorded' && isSame(stored, intent);
}
