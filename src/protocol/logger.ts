import { InvalidOptionError } from '../errors.js';
import { hasMethod, invalidOption, type Rule, withMethods } from './options.js';
import { isObject } from './own-fields.js';
import { logText } from './plain-text.js';

/**
 * A logger like pino or console, called with an object of fields and a message. Those of winston, LogTape, Sentry and
 * Powertools for AWS Lambda are recognised and get the message first. If a logger throws, the process warns once
 * (`LOGGER_FAILED`), and nothing else changes.
 */
export interface Logger {
  /** A success: a request, a callback, an operation of a store. */
  debug(fields: object, message: string): void;
  /** A callback that the service is asked to retry. */
  info(fields: object, message: string): void;
  /** A request that failed and will be sent again, a refused callback, an unresolved payment. */
  warn(fields: object, message: string): void;
  /** A final failure, or a second payment. */
  error(fields: object, message: string): void;
}

export const loggerRule: Rule<Logger> = /* @__PURE__ */ withMethods<Logger>(
  'a logger like console',
  'debug',
  'info',
  'warn',
  'error',
);

// Methods that only these have: winston, Sentry, LogTape, Powertools for AWS Lambda.
const MESSAGE_FIRST = ['startTimer', 'fmt', 'getChild', 'appendKeys'];

/**
 * Writes one line. A logger that throws must not turn a success into a failure, and one that rejects must not end the
 * process.
 */
export function writeLine(
  logger: Logger,
  level: keyof Logger,
  { fields, message }: { fields: object; message: string },
): void {
  const text = `merchant-payments: ${message}`;
  const failed = (error: unknown) => warnOnce(logger, level, error);
  try {
    const isTextFirst = MESSAGE_FIRST.some((name) => hasMethod(logger, name));
    const line = isTextFirst ? ([text, fields] as never) : ([fields, text] as const);
    Promise.resolve(logger[level](...line) as unknown).catch(failed);
  } catch (error) {
    failed(error);
  }
}

const failing = new WeakSet<Logger>();

/** Without the error's message, which may have what the log connects with. */
function warnOnce(logger: Logger, level: keyof Logger, error: unknown): void {
  if (failing.has(logger)) return;
  failing.add(logger);
  const name = error instanceof Error ? error.name : typeof error;
  globalThis.process?.emitWarning?.(
    `The logger's ${level} failed with ${name}, so lines of merchant-payments are lost. Pass the logger itself, or methods that are bound to it`,
    { code: 'LOGGER_FAILED' },
  );
}

/** Milliseconds since `startedAtMs`, a value of `performance.now()`, to the microsecond. */
export function durationSince(startedAtMs: number): number {
  return Math.round((performance.now() - startedAtMs) * 1_000) / 1_000;
}

/** The caller's own fields for log lines, channel messages and spans. */
export type LogContext = Readonly<Record<string, string | number | boolean>>;

const MAX_FIELDS = 16;
const MAX_LENGTH = 256;
const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** Returns a frozen copy. Messages quote neither names nor values, which may be data. */
export const logContext: Rule<LogContext> = (value, option) => {
  if (!isObject(value)) {
    throw invalidOption(option, 'an object of texts, numbers and booleans', value);
  }
  const fields = Object.entries(value);
  const areFit = fields.every(([name, field]) => NAME.test(name) && isLoggable(field));
  if (areFit && fields.length <= MAX_FIELDS) return Object.freeze(Object.fromEntries(fields));
  throw new InvalidOptionError(
    option,
    `${option} must have at most ${MAX_FIELDS} fields, with names such as orderId (up to 64 characters), and texts up to ${MAX_LENGTH} characters, finite numbers or booleans`,
  );
};

function isLoggable(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= MAX_LENGTH;
  return typeof value === 'boolean' || Number.isFinite(value);
}

/**
 * Both references of a payment, as far as they are known, for a line at `warn` or `error`: it is what a person looks for.
 * Other lines do without, and so do channel messages and spans, since the merchant's may identify a customer.
 */
export function referenceFields(given: {
  readonly merchantPaymentReference?: unknown;
  readonly referenceNumber?: unknown;
}) {
  const fields: { merchantPaymentReference?: string; referenceNumber?: string } = {};
  for (const name of ['merchantPaymentReference', 'referenceNumber'] as const) {
    const reference = given[name];
    if (typeof reference === 'string') fields[name] = logText(reference).slice(0, MAX_LENGTH);
  }
  return fields;
}
