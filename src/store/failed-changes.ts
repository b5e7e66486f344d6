import { StoreError, RetryLaterError } from '../errors.js';
import { causesOf } from '../protocol/causes.js';
import {
  givenName,
  invalidOption,
  type OptionRules,
  optional,
  type Resolved,
  resolveOptions,
  wholeNumber,
} from '../protocol/options.js';

/** The stored description of an error. Control characters are replaced, and long texts are truncated. */
export interface FailureText {
  /** Name of the error's class, at most 64 characters. */
  name: string;
  /** Its `code`, if it has one, as errors of this package, of drivers and of Node do. At most 64 characters. */
  code?: string | undefined;
  /**
   * Its message, at most 500 characters. The receiver redacts the signing secret, and withholds a message that
   * repeats 40 characters of the callback's body; anything else that your code or a driver writes is kept.
   */
  message: string;
}

/** Identifies a status change. */
export interface ChangeId {
  /** The same for every delivery of the change: `callback.key`. */
  key: string;
  /** Identifies the payment: the service's `referenceNumber`. */
  paymentReference: string;
}

/** A change whose work failed and has not completed since. */
export interface FailedChange extends ChangeId {
  /** When the change happened at the service: its `updatedAt`, to the millisecond. */
  occurredAt: Date;
  /** How often its work has failed. 0 for a change that was parked behind another one (`blockParked`). */
  attempts: number;
  /** When it first failed, or was parked behind another. */
  firstFailedAt: Date;
  /** When it last failed. */
  lastFailedAt: Date;
  /** Whether it is parked: deliveries are acknowledged without a run, and only `replay` runs it again. */
  parked: boolean;
  /** Why it last failed. */
  error: FailureText;
  /** The verified body as received, if the inbox has `keepBodies: true`. */
  rawBody?: Uint8Array | undefined;
}

/** Selects the failed changes to list. */
export interface FailedChangesOptions {
  /**
   * The most changes to list: a whole number from 1.
   * @default all
   */
  limit?: number | undefined;
  /**
   * Lists only the changes of this payment: the service's `referenceNumber`.
   * @default the changes of every payment
   */
  paymentReference?: string | undefined;
}

/** The methods of an inbox that keeps the changes whose work failed. */
export interface FailedChangeStore {
  /**
   * Lists the changes whose work failed and has not completed since, ordered by their first failure. They are
   * read in pages: you may replay or discard changes while you list them, and a change that fails again in the
   * meantime is not listed twice.
   *
   * @throws {InvalidOptionError} when an option is invalid or unknown
   */
  failedChanges(options?: FailedChangesOptions): AsyncIterable<FailedChange>;
  /**
   * Forgets the failures of a change, and unparks it. The change is not marked as processed: a later
   * delivery runs it.
   *
   * @returns whether there was a failure to forget
   * @throws {InvalidOptionError} when `change` is not an object with `key` and `paymentReference`
   */
  discard(change: ChangeId): Promise<boolean>;
}

/**
 * How an inbox that keeps failures handles a failed delivery. The receiver sets it; other inboxes ignore it.
 */
export interface FailurePolicy {
  /**
   * The number of failures after which the change is parked: a whole number from 1.
   * @default never
   */
  readonly parkAfter?: number | undefined;
  /**
   * Whether a change is parked without being run while an earlier change of its payment is parked.
   * @default false
   */
  readonly blockParked?: boolean | undefined;
  /**
   * Whether a parked change runs, as a replay does.
   * @default false
   */
  readonly runParked?: boolean | undefined;
  /** Returns the verified body as received. Called only after a failure, by an inbox that keeps bodies. */
  getRawBody?(): Uint8Array;
  /** Returns the description of the work's error to store. By default, the one that {@link FailureText} describes. */
  describeError?(error: unknown): FailureText;
  /** Called after a failure has parked the change and this is stored. */
  onParked?(attempts: number): void;
  /** Called with the store's error when a failure could not be stored. `process` rejects with the work's error. */
  onNotKept?(error: unknown): void;
}

const listRules = {
  limit: optional(wholeNumber({ min: 1, unit: 'changes' })),
  paymentReference: optional(givenName),
} satisfies OptionRules<FailedChangesOptions>;

/** @throws {InvalidOptionError} when an option is invalid or unknown */
export function resolveListOptions(options: FailedChangesOptions = {}): Resolved<typeof listRules> {
  return resolveOptions(options, listRules);
}

/** @throws {InvalidOptionError} when `change` is not an object with a key and a paymentReference */
export function assertChangeId(change: ChangeId): void {
  const { key, paymentReference } = (change ?? {}) as Partial<ChangeId>;
  if (typeof key === 'string' && typeof paymentReference === 'string') return;
  throw invalidOption('change', 'an object with key and paymentReference', change);
}

/** Whether an error that the work threw counts as a failure of its change. */
export function isFailure(error: unknown): boolean {
  for (const cause of causesOf(error)) {
    if (cause instanceof RetryLaterError) return false;
    if (cause instanceof StoreError && cause.code === 'REPLAY_IMPOSSIBLE') return false;
  }
  return true;
}

const MAX_NAME_LENGTH = 64;
const MAX_MESSAGE_LENGTH = 500;
// Terminals and log viewers interpret these: C0 and C1 controls, line separators, bidirectional marks.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/**
 * Describes an error for storage. Its cause, stack and other fields are left out, because drivers put commands
 * and rows there.
 *
 * @param redact removes secrets from the texts, before they are truncated
 */
export function describeFailure(
  error: unknown,
  redact: (texts: readonly string[]) => readonly string[] = (texts) => texts,
): FailureText {
  const read = readError(error);
  const [name = '', code = '', message = ''] = redact([read.name, read.code, read.message]);
  const shownCode = clean(code, MAX_NAME_LENGTH);
  return {
    name: clean(name, MAX_NAME_LENGTH) || 'Error',
    ...(shownCode === '' ? {} : { code: shownCode }),
    message: clean(message, MAX_MESSAGE_LENGTH),
  };
}

function readError(error: unknown): Record<'name' | 'code' | 'message', string> {
  // The error may have a getter that throws.
  try {
    if (typeof error !== 'object' || error === null) {
      return { name: '', code: '', message: error === undefined ? '' : String(error) };
    }
    const { name, code, message } = error as Record<'name' | 'code' | 'message', unknown>;
    const isCode = typeof code === 'string' || typeof code === 'number';
    return {
      name: typeof name === 'string' ? name : '',
      code: isCode ? String(code) : '',
      message: typeof message === 'string' ? message : '',
    };
  } catch {
    return { name: '', code: '', message: '' };
  }
}

function clean(dirty: string, maxLength: number): string {
  const shown = dirty.toWellFormed().replaceAll(CONTROLS, ' ').trim();
  if (shown.length <= maxLength) return shown;
  // Not between the halves of a surrogate pair.
  return `${shown.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
