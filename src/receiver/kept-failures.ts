import { copyOf } from '../callback/body.js';
import { decodeBody, parseStatusRecord, type Verification } from '../callback/checks.js';
import { bytesOfSecret } from '../callback/options.js';
import { StoreError } from '../errors.js';
import { hasMethod, invalidOption } from '../protocol/options.js';
import { MIN_SHARED_WITH_CALLBACK, REDACTED, Redactor } from '../protocol/redaction.js';
import type { FailedChange } from '../store/attention.js';
import type { CallbackStore } from '../store/callback-store.js';
import { describeFailure, type FailurePolicy } from '../store/failure.js';

/** Identifies a failed change, as `attention()` lists it. */
export type ChangeId = Pick<FailedChange, 'referenceNumber' | 'key'>;

/** Whether a store keeps failures. */
export const keepsFailures = <Store extends object>(
  store: Store,
): store is Store & Required<Pick<CallbackStore, 'attention'>> => hasMethod(store, 'attention');

type Failing = { text: string; secrets: readonly unknown[] | undefined; isReplay: boolean };

/** What a store that keeps failures is to do with one of this delivery. */
export function failurePolicyOf(
  { store, parkAfter }: { readonly store: object; readonly parkAfter?: number | undefined },
  { text, secrets, isReplay }: Failing,
): FailurePolicy | undefined {
  if (!keepsFailures(store)) return undefined;
  return {
    parkAfter,
    runParked: isReplay,
    // Made of the text: the merchant's code gets the bytes, and may have changed them.
    getRawBody: () => copyOf(text),
    describeError: (error) => describeFailure(error, (texts) => redact(texts, text, secrets)),
  };
}

/** Without the signing secrets, and withheld if it repeats the callback's body. */
function redact(
  texts: readonly string[],
  body: string,
  secrets: readonly unknown[] | undefined,
): readonly string[] {
  if (secrets === undefined) return texts.map(() => REDACTED);
  try {
    // A key that can't be exported has no bytes to search for.
    const bytes = secrets.flatMap((secret) => bytesOfSecret(secret, 'signingSecret') ?? []);
    const redactor = new Redactor(bytes);
    return redactor.redactAll(texts, body, MIN_SHARED_WITH_CALLBACK);
  } catch {
    // Some runtimes of the fetch adapter lack Node's Buffer.
    return texts.map(() => REDACTED);
  }
}

/** The error for a delivery of a change that was parked before. */
export const changeIsParked = (): StoreError =>
  new StoreError(
    'CHANGE_PARKED',
    'The change was not run: it is parked after repeated failures; replay it when its cause is fixed, or discard it',
  );

/** The error that `onError` gets after the failure that parked a change. */
export function changeParked(attempts: number): StoreError {
  return new StoreError(
    'CHANGE_PARKED',
    `The change failed ${attempts} times (parkAfter), so it is parked: acknowledged, and not retried. Fix the cause, then replay or discard it; attention() lists it`,
  );
}

/** What the store kept of a change: its body is read from there, never taken from the caller, since it was verified. */
export async function findKeptChange(
  store: object,
  change: ChangeId,
): Promise<FailedChange | undefined> {
  const { key, referenceNumber } = (change ?? {}) as Partial<ChangeId>;
  if (typeof key !== 'string' || typeof referenceNumber !== 'string') {
    throw invalidOption('change', 'an object with key and referenceNumber', change);
  }
  if (!keepsFailures(store)) {
    const message =
      'The store of this receiver keeps no failed changes; use postgresStore, mysqlStore, sqliteStore or memoryStore';
    throw new StoreError('REPLAY_IMPOSSIBLE', message);
  }
  for await (const kept of store.attention({ kinds: ['failed-change'], referenceNumber })) {
    if (kept.kind === 'failed-change' && kept.key === key) return kept;
  }
  return undefined;
}

/** The error for a change that can't be replayed. */
export function replayImpossible(kept: FailedChange | undefined): StoreError {
  const why =
    kept === undefined
      ? 'No failure of this change is kept: it was processed since, discarded, or forgotten by memoryStore'
      : 'prune() has removed the body of this change, so there is nothing to replay: repair its order by hand, then discard the change';
  return new StoreError('REPLAY_IMPOSSIBLE', why);
}

/** Recreates the callback of a kept change, whose body was verified when it was received; undefined without a body. */
export function readKeptChange(kept: FailedChange | undefined): Verification | undefined {
  if (kept?.rawBody === undefined) return undefined;
  const { key, rawBody, lastFailedAt: timestamp } = kept;
  const text = decodeBody(rawBody);
  const payment = parseStatusRecord(text);
  return { text, callback: { payment, key, timestamp, secretIndex: 0, rawBody: copyOf(text) } };
}
