import { type Rule, withMethods } from './options.js';

/**
 * A logger like pino or console, called with an object of fields and a message. What it throws is ignored.
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

/**
 * Writes one line. A logger that throws must not turn a success into a failure, and one that rejects must not
 * end the process.
 */
export function writeLine(
  logger: Logger,
  level: keyof Logger,
  { fields, message }: { fields: object; message: string },
): void {
  try {
    const written: unknown = logger[level](fields, `merchant-payments: ${message}`);
    Promise.resolve(written).catch(() => {});
  } catch {}
}

/** Milliseconds since `startedAtMs`, a value of `performance.now()`, to the microsecond. */
export function durationSince(startedAtMs: number): number {
  return Math.round((performance.now() - startedAtMs) * 1_000) / 1_000;
}
