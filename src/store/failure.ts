import { RetryLaterError, StoreError } from '../errors.js';
import { causesOf } from '../protocol/describe-value.js';
import { logText } from '../protocol/plain-text.js';

/** The stored description of an error. Invisible characters are replaced, and long texts are truncated. */
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

/** How a store that keeps failed changes handles a failed delivery. The receiver sets it; other stores ignore it. */
export interface FailurePolicy {
  /**
   * The number of failures after which the change is parked: a whole number from 1.
   * @default never
   */
  readonly parkAfter?: number | undefined;
  /**
   * Whether a parked change runs, as a replay does.
   * @default false
   */
  readonly runParked?: boolean | undefined;
  /** Returns the verified body as received. Called only after a failure. */
  getRawBody?(): Uint8Array;
  /** Returns the description of the work's error to store. By default, its name, code and message, shortened. */
  describeError?(error: unknown): FailureText;
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

/**
 * Describes an error for storage, without its other fields, where drivers put commands and rows.
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
  if (typeof error !== 'object' || error === null) {
    return { name: '', code: '', message: error === undefined ? '' : String(error) };
  }
  const { name, code, message } = error as Record<'name' | 'code' | 'message', unknown>;
  const toText = (value: unknown) => (typeof value === 'string' ? value : '');
  const shownCode = typeof code === 'number' ? String(code) : toText(code);
  return { name: toText(name), code: shownCode, message: toText(message) };
}

function clean(dirty: string, maxLength: number): string {
  const shown = logText(dirty);
  if (shown.length <= maxLength) return shown;
  // Not between the halves of a surrogate pair.
  return `${shown.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
