import type { RequestOptions } from '../client/options.js';
import type { CreatePaymentResult } from '../client/response.js';
import type { MerchantPaymentsError } from '../errors.js';
import { prepareCreation } from '../protocol/prepared-creation.js';
import { startStopwatch } from '../protocol/waiting.js';
import type { Tables } from './backend.js';
import { ofAnswer, ofError } from './call-end.js';
import { notSentInTime, outcomeNotStored } from './errors.js';
import type { StoreClient } from './options.js';
import type { Claim, Claimed, PaymentRow, Result, Statuses } from './payment-row.js';
import { readBody } from './records.js';
import { wasNeverSent } from './sql/server-errors.js';
import { pause } from './waiting.js';

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

/** The result of trying to send it. */
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
 * @throws {MerchantPaymentsError} when the caller must change something before any payment can be sent: its credentials or
 * options, or its signal, which ended the call before anything was sent; this is stored
 * @throws {StoreError} when the store fails
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
      // The claim may have been granted and only its answer lost. Release it, since nothing was sent.
      if (!wasNeverSent(error))
        backend.finish(key, owner, released(wanted), undefined).catch(() => undefined);
      throw error;
    });
}

/** What a payment is again whose claim ends without a request. */
function released({ isRepetition }: Wanted): Result {
  return { state: isRepetition ? 'unresolved' : 'recorded', failure: undefined };
}

/** What a granted claim returned. */
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
 * Stores the end of the call, and returns what is then stored. A sender that is no longer the owner must not overwrite
 * what others have stored since, but the fact that a payment exists never expires: it is settled as by a callback.
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
