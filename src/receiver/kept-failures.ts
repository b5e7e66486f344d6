import { isUint8Array, type RawBody } from '../callback/body.js';
import type { VerifiedCallback } from '../callback/options.js';
import { decodeBody, parseStatusRecord } from '../callback/record.js';
import { callbackKey } from '../callback/web/key.js';
import { CallbackVerificationError, InboxError } from '../errors.js';
import {
  assertChangeId,
  type ChangeId,
  describeFailure,
  type FailedChange,
  type FailedChangeStore,
  type FailurePolicy,
} from '../inbox/failed-changes.js';
import type { CallbackInbox } from '../inbox/inbox.js';
import { MIN_SHARED_WITH_CALLBACK, REDACTED, Redactor } from '../protocol/redaction.js';

/** Settings that all deliveries of a receiver share. */
export interface FailureSettings {
  readonly parkAfter: number | undefined;
  readonly blockParked: boolean;
  /** The current signing secrets, which must not be kept with an error. Undefined while they are unknown. */
  getSecrets(): readonly unknown[] | undefined;
}

/** Whether an inbox keeps failures. */
export function keepsFailures<Tx>(
  inbox: CallbackInbox<Tx>,
): inbox is CallbackInbox<Tx> & FailedChangeStore {
  return typeof inbox.failedChanges === 'function' && typeof inbox.discard === 'function';
}

/** What became of the failure of one delivery. */
export interface FailureNote {
  /** The number of failures after which this delivery parked its change; undefined if it did not. */
  parkedAfter?: number;
  /** The inbox's error, if it could not store the failure. */
  notKept?: unknown;
}

/** What the inbox is to do with a failure of one delivery; it writes into the note. */
export function createFailurePolicy(
  { parkAfter, blockParked, getSecrets }: FailureSettings,
  rawBody: RawBody,
  { isReplay, note }: { readonly isReplay: boolean; readonly note: FailureNote },
): FailurePolicy {
  return {
    parkAfter,
    blockParked,
    runParked: isReplay,
    getRawBody: () => toBytes(rawBody),
    describeError: (error) =>
      describeFailure(error, (texts) => {
        try {
          const secrets = getSecrets()?.flatMap(textsOfSecret);
          if (secrets === undefined) return texts.map(() => REDACTED);
          const body = decodeBody(toBytes(rawBody));
          return new Redactor(secrets).redactAll(texts, body, MIN_SHARED_WITH_CALLBACK);
        } catch {
          // Some runtimes of the fetch adapter lack Node's Buffer.
          return texts.map(() => REDACTED);
        }
      }),
    onParked: (attempts) => {
      note.parkedAfter = attempts;
    },
    onNotKept: (error) => {
      note.notKept = error;
    },
  };
}

/**
 * Copies a body that may be kept, before it is verified: the server could reuse its buffer before a failure is
 * stored, and a replay does not verify again. What is no body is returned, for the verifier to refuse.
 */
export function copyBody(rawBody: RawBody): RawBody {
  // Not by slice(), with which a Buffer shares its memory.
  if (isUint8Array(rawBody)) return new Uint8Array(rawBody);
  return rawBody instanceof ArrayBuffer ? rawBody.slice(0) : rawBody;
}

function toBytes(rawBody: RawBody): Uint8Array {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  return rawBody instanceof Uint8Array ? rawBody : new Uint8Array(rawBody);
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

/** The error that `onError` gets after the failure that parked a change. */
export function changeParked(attempts: number, keepsBodies = true): InboxError {
  const remedy = keepsBodies
    ? 'Fix the cause and replay it, or discard it'
    : 'It cannot be replayed, because the inbox does not keep bodies (keepBodies: true): repair its order by hand, then discard it';
  return new InboxError(
    'CHANGE_PARKED',
    `The change was parked after ${attempts} failed attempts (parkAfter): it is acknowledged, and the service no longer retries it. ${remedy}; failedChanges() of the inbox lists it`,
  );
}

/** The code with which the inbox refused to run the change, if it did. */
export function refusalCode(error: unknown): 'CHANGE_PARKED' | 'CHANGE_BLOCKED' | undefined {
  if (!(error instanceof InboxError)) return undefined;
  const { code } = error;
  return code === 'CHANGE_PARKED' || code === 'CHANGE_BLOCKED' ? code : undefined;
}

/**
 * Finds what the inbox kept of a change. The body is read from the inbox, never taken from the caller, since
 * only the inbox's was verified.
 *
 * @throws {InvalidOptionError} when `change` is not an object with a key and a paymentReference
 * @throws {InboxError} `REPLAY_IMPOSSIBLE` when the inbox keeps no failures
 */
export async function findKeptChange<Tx>(
  inbox: CallbackInbox<Tx>,
  change: ChangeId,
): Promise<FailedChange | undefined> {
  assertChangeId(change);
  if (!keepsFailures(inbox)) {
    throw new InboxError(
      'REPLAY_IMPOSSIBLE',
      'The inbox of this receiver keeps no failed changes; use postgresInbox, mysqlInbox, sqliteInbox or memoryInbox',
    );
  }
  const { key, paymentReference } = change;
  for await (const kept of inbox.failedChanges({ paymentReference })) {
    if (kept.key === key) return kept;
  }
  return undefined;
}

/** The error for a change that can't be replayed. */
export function replayImpossible(kept: FailedChange | undefined): InboxError {
  return new InboxError('REPLAY_IMPOSSIBLE', whyImpossible(kept));
}

function whyImpossible(kept: FailedChange | undefined): string {
  if (kept === undefined) {
    return 'No failure of this change is kept, and it was not processed: it was discarded or pruned';
  }
  return kept.rawBody === undefined
    ? 'The body of this change was not kept, so there is nothing to replay; create the inbox with keepBodies: true to keep the bodies of changes that fail from then on, and repair this one by hand'
    : "The stored body is not of this change: it is no payment status record, or its referenceNumber, status and updatedAt are another change's; nothing was run. Look the payment up at the service, repair its order by hand, discard the change, and find out what wrote the body";
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
  const { key, paymentReference, rawBody, lastFailedAt: timestamp } = kept;
  try {
    const payment = parseStatusRecord(decodeBody(rawBody));
    const isOfChange =
      payment.referenceNumber === paymentReference && (await callbackKey(payment)) === key;
    return isOfChange ? { payment, key, timestamp, secretIndex: 0, rawBody } : undefined;
  } catch (error) {
    if (error instanceof CallbackVerificationError) return undefined;
    throw error;
  }
}
