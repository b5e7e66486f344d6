import type { RequestOptions } from '../client/options.js';
import type { CreatePaymentResult } from '../client/response.js';
import {
  ApiError,
  ConnectionError,
  InvalidCredentialsError,
  MerchantPaymentsError,
  type RequestOutcome,
  RequestTimeoutError,
  ResponseError,
} from '../errors.js';
import { fieldOfAny, ownFields } from '../protocol/own-fields.js';
import { prepareCreation } from '../protocol/prepared-creation.js';
import { startStopwatch } from '../protocol/waiting.js';
import type { Tables } from './backend.js';
import { notSentInTime, outcomeNotStored } from './errors.js';
import type { StoreClient } from './options.js';
import type { Claimed, Finding, Intent, PaymentRow, Result, StoredForms } from './payment-row.js';
import { readBody, toFinding } from './records.js';
import { wasNeverSent } from './sql/server-errors.js';
import type { PaymentFields, SendFailure } from './stored-payment.js';
import { pause } from './waiting.js';

/** A payment that a caller wants sent. */
export interface Wanted {
  readonly key: string;
  /** Undefined if it is already stored. */
  readonly intent: Intent | undefined;
  /** Sends the intent, which the client has already validated, with a timeout in milliseconds. */
  readonly send: ((timeoutMs: number) => Promise<CreatePaymentResult>) | undefined;
  readonly options: RequestOptions | undefined;
  /** Whether to send it again if it was rejected. False in recover(), where no caller sees the result. */
  readonly allowsRejected: boolean;
  /** Whether it is unresolved, and sent again to a service that recognises repetitions. */
  readonly isRepetition?: boolean;
  /** Whether a call for the order means another attempt than this one. */
  readonly isOver?: (stored: PaymentRow) => boolean;
  /** How long the call may take, in milliseconds. */
  readonly timeoutMs: number;
  /** The lease of the claim, in milliseconds: longer than `timeoutMs`. */
  readonly leaseMs: number;
}

/** The result of trying to send it. */
export interface Turn {
  /** What is stored now; undefined if there is nothing. */
  readonly stored: PaymentRow | undefined;
  /** Whether nothing was sent. */
  readonly replayed: boolean;
  /** Whether it was not sent because another attempt has paid the order. */
  readonly isPaid?: boolean | undefined;
  /** The client's error, if the call that sent the payment has got one. */
  readonly error?: MerchantPaymentsError | undefined;
  /** The parsed `stored.payment`, if it is at hand. */
  readonly payment?: PaymentFields | undefined;
}

export interface Sender {
  readonly backend: Tables;
  readonly client: StoreClient;
}

const MAX_CLAIMS = 5;

/**
 * Claims the payment and, if the claim is granted, sends it.
 *
 * @param onEnd called before the promise settles
 * @throws {MerchantPaymentsError} when the caller must change something before any payment can be sent: its credentials or
 * options, or its signal, which ended the call before anything was sent; this is stored
 * @throws {StoreError} when the store fails
 */
export async function sendIfGranted(
  sender: Sender,
  wanted: Wanted,
  onEnd: () => void,
): Promise<Turn> {
  const { backend } = sender;
  const { key, timeoutMs, leaseMs } = wanted;
  try {
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
  } finally {
    onEnd();
  }
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

interface Grant {
  readonly owner: string;
  readonly stored: PaymentRow;
}

async function send(sender: Sender, wanted: Wanted, { owner, stored }: Grant): Promise<Turn> {
  const ended = ownFields(
    await call(sender.client, wanted, stored).then(
      ({ payment }) => toCreated(payment, stored, wanted, sender.backend.forms),
      (error) => toEnded(error, wanted),
    ),
  );
  const after = await storeResult(sender.backend, wanted, { owner, stored, ended });
  // A callback was faster, and its record is worth more than the error.
  const isSettled = after.state === 'created' && ended.result.state !== 'created';
  if (isSettled) return { stored: after, replayed: false };
  if (ended.thrown !== undefined) throw ended.thrown;
  const isAnswer =
    after.payment !== undefined && after.payment === ownFields(ended.result).finding?.payment;
  const payment = isAnswer ? ended.payment : undefined;
  return { stored: after, replayed: false, error: ended.error, payment };
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

/** The end of a call. */
interface Ended {
  readonly result: Result;
  /** The service's record, if it returned one. */
  readonly payment?: PaymentFields;
  /** The error to return together with what is stored. */
  readonly error?: MerchantPaymentsError;
  /** The error to throw instead. */
  readonly thrown?: unknown;
}

function created(finding: Finding, failure?: string): Result {
  return { state: 'created', finding, failure };
}

function toCreated(
  payment: CreatePaymentResult['payment'],
  { body }: PaymentRow,
  wanted: Wanted,
  forms: StoredForms,
): Ended {
  const { merchantPaymentReference: reference } = readBody(body).input;
  // The answer to another request, for example because of a faulty proxy. With its number, ours would become a second
  // payment.
  if (![undefined, reference].includes(ownFields(payment).merchantPaymentReference)) {
    return toEnded(answerToAnother(), wanted);
  }
  // The payment's first record: any callback is newer, whatever the clocks of the service say.
  const finding = toFinding({ merchantPaymentReference: reference, ...payment }, forms);
  return { result: created({ ...finding, updatedAtUs: undefined }), payment };
}

function answerToAnother(): ResponseError {
  return new ResponseError(
    'The service answered with a payment of another merchantPaymentReference, so it is unknown whether this one was created: do not send it again, and wait for its callback; look for a proxy that mixes up answers',
    { requestOutcome: 'unknown', safeToRetry: false },
  );
}

const NOTHING_KNOWN: Finding = {
  referenceNumber: undefined,
  payment: undefined,
  updatedAtUs: undefined,
};

function toEnded(error: unknown, { allowsRejected, isRepetition }: Wanted): Ended {
  const isOurs = error instanceof MerchantPaymentsError;
  const requestOutcome = (isOurs && error.requestOutcome) || 'unknown';
  const failure = describe(error, requestOutcome);
  if (requestOutcome === 'accepted' && isOurs) {
    return { result: created(NOTHING_KNOWN, failure), error };
  }
  const mayBeSentAgain =
    requestOutcome === 'not-sent' ||
    // A 429, even if the client's own retry of it was not sent.
    (isOurs && error.safeToRetry === true) ||
    // Keep it until the cause is fixed: in recover(), no caller would send it again.
    (!allowsRejected && !isVerdict(error));
  // A reference in use may mean that an earlier attempt, or another program, has created the payment. Nor does the
  // refusal of a repetition say that the attempts before it have created nothing. Were it rejected, it could be
  // corrected, and the service would not recognise another body: that makes a second payment.
  const isInDoubt = requestOutcome === 'unknown' || isConflict(error) || isRepetition;
  const state = isInDoubt ? 'unresolved' : mayBeSentAgain ? 'recorded' : 'rejected';
  const isReturned = isOurs && (requestOutcome === 'unknown' || isFromOutside(error));
  return { result: { state, failure }, ...(isReturned ? { error } : { thrown: error }) };
}

/** Whether the service or the network did it. Wrong credentials are the caller's, and would fail every payment. */
function isFromOutside(error: unknown): boolean {
  if (error instanceof InvalidCredentialsError) return false;
  return (
    error instanceof ApiError ||
    error instanceof ConnectionError ||
    error instanceof RequestTimeoutError ||
    error instanceof ResponseError
  );
}

const CONFLICT = 409;
const SETUP_STATUSES: ReadonlySet<unknown> = new Set([401, 403, 404, 405]);
// 409 also from a service that is still busy with an earlier request of the same key.
const PASSING_STATUSES: ReadonlySet<unknown> = new Set([...SETUP_STATUSES, CONFLICT, 429]);

/** Whether the service, or a proxy in front of it, refused the client rather than this payment. */
export function isSetupError(error: unknown): boolean {
  return SETUP_STATUSES.has(statusOf(error));
}

/**
 * Whether the service itself refused this payment: the answer has an error code (interface section 2.3). An
 * answer without one, or that only repeats its status, may come from a proxy, which refuses every payment.
 */
export function isVerdict(error: unknown): boolean {
  if (!(error instanceof ApiError) || isSetupError(error)) return false;
  return error.serviceCode !== undefined && error.serviceCode !== String(error.httpStatus);
}

/**
 * Whether the service itself refused the last attempt, of which this is the stored failure, in a way in which it would
 * refuse the next one too.
 */
export function wasRefused(failure: string | undefined): boolean {
  if (failure === undefined) return false;
  const { requestOutcome, serviceCode, httpStatus } = JSON.parse(failure) as SendFailure;
  if (requestOutcome !== 'rejected' || PASSING_STATUSES.has(httpStatus)) return false;
  return serviceCode !== undefined && serviceCode !== String(httpStatus);
}

/** Whether the service says that the reference is in use. */
export function isConflict(error: unknown): boolean {
  return statusOf(error) === CONFLICT;
}

function statusOf(error: unknown): number | undefined {
  return fieldOfAny(error, 'httpStatus') as number | undefined;
}

// Without the message, which may quote the service, for example about a customer.
function describe(error: unknown, requestOutcome: RequestOutcome): string {
  const code = error instanceof MerchantPaymentsError ? error.code : 'UNKNOWN';
  const serviceCode = error instanceof ApiError ? error.serviceCode : undefined;
  const httpStatus = statusOf(error);
  const failure: SendFailure = { code, serviceCode, requestOutcome, httpStatus };
  return JSON.stringify(failure);
}

// A database that fails over is usually back within seconds.
const PAUSES_MS = [100, 400, 1_600];

/** Stores the end of the call. Resolves with what is then stored. */
async function storeResult(
  backend: Tables,
  { key }: Wanted,
  { owner, stored: claimed, ended }: Grant & { ended: Ended },
): Promise<PaymentRow> {
  const { result } = ended;
  const what = result.state === 'created' ? 'it was created' : result.state;
  let cause: unknown;
  for (const pauseMs of [0, ...PAUSES_MS]) {
    if (pauseMs > 0) await pause(pauseMs);
    try {
      const finished = await backend.finish(key, owner, result, claimed);
      const stored = finished ?? (await mergeLateResult(backend, key, result));
      if (stored !== undefined) return stored;
      break;
    } catch (error) {
      cause = error;
    }
  }
  throw outcomeNotStored(what, cause);
}

/**
 * Handles the result of a sender that is no longer the owner. It must not overwrite what others have stored since,
 * but the fact that a payment exists never expires: it is settled as by a callback.
 */
async function mergeLateResult(
  backend: Tables,
  key: string,
  result: Result,
): Promise<PaymentRow | undefined> {
  if (result.finding !== undefined) await backend.settle(key, result.finding);
  return backend.read(key);
}
