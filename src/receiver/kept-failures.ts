import type { VerifiedCallback } from '../callback/options.js';
import { decodeBody, parseStatusRecord } from '../callback/record.js';
import { toVerified } from '../callback/verification.js';
import { callbackKey } from '../callback/web/key.js';
import { CallbackVerificationError, StoreError } from '../errors.js';
import { hasMethod, invalidOption } from '../protocol/options.js';
import { MIN_SHARED_WITH_CALLBACK, REDACTED, Redactor } from '../protocol/redaction.js';
import type { FailedChange } from '../store/attention.js';
import type { CallbackStore } from '../store/callback-store.js';
import { describeFailure, type FailurePolicy } from '../store/failure.js';

/** Identifies a failed change, as `attention()` lists it. */
export type ChangeId = Pick<FailedChange, 'referenceNumber' | 'key'>;

/** Whether a store keeps failures. */
export function keepsFailures<Tx>(
  store: CallbackStore<Tx>,
): store is CallbackStore<Tx> & Required<Pick<CallbackStore<Tx>, 'attention'>> {
  return hasMethod(store, 'attention');
}

interface KeptDelivery {
  readonly rawBody: Uint8Array;
  /** The signing secrets, which must not be kept with an error. Undefined while they are unknown. */
  readonly secrets: readonly unknown[] | undefined;
  readonly isReplay: boolean;
}

/** What the store is to do with a failure of one delivery. */
export function createFailurePolicy(
  parkAfter: FailurePolicy['parkAfter'],
  { rawBody, secrets, isReplay }: KeptDelivery,
): FailurePolicy {
  return {
    parkAfter,
    runParked: isReplay,
    getRawBody: () => rawBody,
    describeError: (error) =>
      describeFailure(error, (texts) => {
        if (secrets === undefined) return texts.map(() => REDACTED);
        try {
          const redactor = new Redactor(secrets.flatMap(textsOfSecret));
          return redactor.redactAll(texts, decodeBody(rawBody), MIN_SHARED_WITH_CALLBACK);
        } catch {
          // Some runtimes of the fetch adapter lack Node's Buffer.
          return texts.map(() => REDACTED);
        }
      }),
  };
}

/** The texts in which an error could show a secret. None for a key that can't be exported. */
function textsOfSecret(secret: unknown): string[] {
  if (typeof secret === 'string') return [secret];
  const { export: exportKey } = (secret ?? {}) as { export?(): unknown };
  const bytes = typeof exportKey === 'function' ? exportKey.call(secret) : secret;
  if (!ArrayBuffer.isView(bytes)) return [];
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return [
    buffer.toString(),
    ...(['hex', 'base64', 'base64url'] as const).map((encoding) => buffer.toString(encoding)),
  ];
}

/** The error for a delivery of a parked change, which is not run. */
export function parkedBefore(): StoreError {
  return new StoreError(
    'CHANGE_PARKED',
    'The change was not run: it is parked after repeated failures; replay it when its cause is fixed, or discard it',
  );
}

/** The error that `onError` gets after the failure that parked a change. */
export function changeParked(attempts: number): StoreError {
  return new StoreError(
    'CHANGE_PARKED',
    `The change was parked after ${attempts} failed attempts (parkAfter): it is acknowledged, and the service no longer retries it. Fix the cause and replay it, or discard it; attention() of the store lists it`,
  );
}

/**
 * Finds what the store kept of a change. The body is read from the store, never taken from the caller, since
 * only the store's was verified.
 *
 * @throws {InvalidOptionError} when `change` is not an object with a key and a referenceNumber
 * @throws {StoreError} `REPLAY_IMPOSSIBLE` when the store keeps no failures
 */
export async function findKeptChange<Tx>(
  store: CallbackStore<Tx>,
  change: ChangeId,
): Promise<FailedChange | undefined> {
  const { key, referenceNumber } = (change ?? {}) as Partial<ChangeId>;
  if (typeof key !== 'string' || typeof referenceNumber !== 'string') {
    throw invalidOption('change', 'an object with key and referenceNumber', change);
  }
  if (!keepsFailures(store)) {
    throw new StoreError(
      'REPLAY_IMPOSSIBLE',
      'The store of this receiver keeps no failed changes; use postgresStore, mysqlStore, sqliteStore or memoryStore',
    );
  }
  for await (const kept of store.attention({ kinds: ['failed-change'], referenceNumber })) {
    if (kept.kind === 'failed-change' && kept.key === key) return kept;
  }
  return undefined;
}

/** The error for a change that can't be replayed. */
export function replayImpossible(kept: FailedChange | undefined): StoreError {
  const why =
    kept?.rawBody === undefined
      ? 'prune() has removed the body of this change, so there is nothing to replay: repair its order by hand, then discard the change'
      : "The stored body is not of this change: it is no payment status record, or its referenceNumber, status and updatedAt are another change's; nothing was run. Look the payment up at the service, repair its order by hand, discard the change, and find out what wrote the body";
  const processed =
    'No failure of this change is kept: it was processed since, discarded, or forgotten by memoryStore';
  return new StoreError('REPLAY_IMPOSSIBLE', kept === undefined ? processed : why);
}

/**
 * Recreates the callback of a kept change. Its body was verified when it was received, but someone may have
 * written to the store since.
 *
 * @returns undefined without a body, or if the body is not of this change
 */
export async function toCallback(
  kept: FailedChange | undefined,
): Promise<VerifiedCallback | undefined> {
  if (kept?.rawBody === undefined) return undefined;
  const { key, referenceNumber, rawBody, lastFailedAt } = kept;
  try {
    const text = decodeBody(rawBody);
    const payment = parseStatusRecord(text);
    const isOfChange =
      payment.referenceNumber === referenceNumber && (await callbackKey(payment)) === key;
    const record = { text, payment, sentAtMs: lastFailedAt.getTime(), secretIndex: 0 };
    return isOfChange ? toVerified(record, key) : undefined;
  } catch (error) {
    if (error instanceof CallbackVerificationError) return undefined;
    throw error;
  }
}
