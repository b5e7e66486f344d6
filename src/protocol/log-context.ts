import { InvalidOptionError } from '../errors.js';
import { invalidOption, type Rule } from './options.js';
import { logText } from './plain-text.js';

/** The caller's own fields for log lines, channel messages and spans. */
export type LogContext = Readonly<Record<string, string | number | boolean>>;

const MAX_FIELDS = 16;
const MAX_LENGTH = 256;
const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** Returns a frozen copy. Messages quote neither names nor values, which may be data. */
export const logContext: Rule<LogContext> = (value, option) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidOption(option, 'an object of texts, numbers and booleans', value);
  }
  const fields = Object.entries(value);
  const refuse = (rule: string) => new InvalidOptionError(option, `${option} must ${rule}`);
  if (fields.length > MAX_FIELDS) {
    throw refuse(`have at most ${MAX_FIELDS} fields; received ${fields.length}`);
  }
  if (!fields.every(([name]) => NAME.test(name))) {
    throw refuse(
      'have names of at most 64 letters, digits, hyphens, underscores and full stops, which begin with a letter',
    );
  }
  if (!fields.every(([, field]) => isLoggable(field))) {
    throw refuse(
      `contain only texts of at most ${MAX_LENGTH} characters, finite numbers and booleans; shorten or leave out the rest`,
    );
  }
  return Object.freeze(Object.fromEntries(fields)) as LogContext;
};

function isLoggable(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= MAX_LENGTH;
  return typeof value === 'boolean' || Number.isFinite(value);
}

/** The merchant's reference for log lines, channel messages and spans, if it may be shown. */
export function shownReference(
  isShown: boolean,
  reference: unknown,
): { readonly merchantPaymentReference?: string } {
  if (!isShown || typeof reference !== 'string') return {};
  return { merchantPaymentReference: logText(reference).slice(0, MAX_LENGTH) };
}
