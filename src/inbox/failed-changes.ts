import { InboxError, RetryLaterError } from '../errors.js';
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

/** What is kept of an error. Control characters are replaced, and what is too long is cut. */
export interface FailureText {
  /** Name of the error's class, at most 64 characters. */
  name: string;
  /** Its `code`, when it has one: that of this package, a driver or Node. At most 64 characters. */
  code?: string | undefined;
  /**
   * Its message, at most 500 characters. The receiver takes the signing secret and the callback's body out
   * of it; what else your own code or a driver writes into its messages is kept.
   */
  message: string;
}

/** What identifies a status change. */
export interface ChangeId {
  /** The same for every delivery of the change: `callback.key`. */
  key: string;
  /** The payment: the service's `referenceNumber`. */
  paymentReference: string;
}

/** A change whose work failed and has not completed since. */
export interface FailedChange extends ChangeId {
  /** When the change happened at the service: its `updatedAt`, to the millisecond. */
  occurredAt: Date;
  /** How often its work has failed. 0 for one that was parked behind another (`blockParked`). */
  attempts: number;
  /** When it first failed, or was parked behind another. */
  firstFailedAt: Date;
  /** When it last failed. */
  lastFailedAt: Date;
  /** Whether it is parked: acknowledged, and run again only by `replay`. */
  parked: boolean;
  /** Why it last failed. */
  error: FailureText;
  /** The verified body as received, where the inbox has `keepBodies: true`. */
  rawBody?: Uint8Array | undefined;
}

/** Which failed changes are listed. */
export interface FailedChangesOptions {
  /**
   * How many at most: a whole number from 1.
   * @default all
   */
  limit?: number | undefined;
  /**
   * Those of this payment only: the service's `referenceNumber`.
   * @default those of every payment
   */
  paymentReference?: string | undefined;
}

/** What an inbox can do that keeps the changes whose work failed. */
export interface FailedChangeStore {
  /**
   * The changes whose work failed and has not completed since, the longest failing first. They are read in
   * pages: changes may be replayed or discarded while they are listed, and one that fails again is
   * not listed twice.
   *
   * @throws {InvalidOptionError} when an option is invalid or unknown
   */
  failedChanges(options?: FailedChangesOptions): AsyncIterable<FailedChange>;
  /**
   * Forgets the failures of a change, and that it was parked. The change itself is not marked as
   * processed: a later delivery of it runs.
   *
   * @returns whether there was one
   * @throws {InvalidOptionError} when `change` is not an object with `key` and `paymentReference`
   */
  discard(change: ChangeId): Promise<boolean>;
}

/**
 * What an inbox that keeps failures needs to know of a delivery, besides the event. The receiver sets it;
 * other inboxes ignore it.
 */
export interface FailurePolicy {
  /**
   * After how many failures the change is parked: a whole number from 1.
   * @default never
   */
  readonly parkAfter?: number | undefined;
  /**
   * Whether a change is parked without a run as long as an earlier change of its payment is parked.
   * @default false
   */
  readonly blockParked?: boolean | undefined;
  /**
   * Whether a parked change runs: a replay.
   * @default false
   */
  readonly runParked?: boolean | undefined;
  /** The verified body as received. Called at a failure only, by an inbox that keeps bodies. */
  getRawBody?(): Uint8Array;
  /** What to keep of the work's error. Without it, {@link FailureText} says what is kept. */
  describeError?(error: unknown): FailureText;
  /** Called when this failure has parked the change, once that is stored. */
  onParked?(attempts: number): void;
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
    if (cause instanceof InboxError && cause.code === 'REPLAY_IMPOSSIBLE') return false;
  }
  return true;
}

const MAX_NAME_LENGTH = 64;
const MAX_MESSAGE_LENGTH = 500;
// Terminals and log viewers act on them: C0 and C1 controls, line separators, marks that turn text round.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/**
 * What is kept of an error. Its cause, its stack and its other fields are not: drivers put commands and
 * rows there.
 *
 * @param redact takes secrets out of texts, before they are cut
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
  // A getter of the error's own may throw.
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
