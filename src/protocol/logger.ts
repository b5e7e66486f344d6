import { type Rule, withMethods } from './options.js';

/**
 * A logger like pino or console: called with an object of fields, then a sentence. What it throws is
 * ignored.
 */
export interface Logger {
  /** What went well: a request, a callback, an operation of the outbox. */
  debug(fields: object, message: string): void;
  /** A callback that the service is asked to retry. */
  info(fields: object, message: string): void;
  /**
   * A request that failed and will be sent again, a callback that was refused, a payment that is
   * unresolved.
   */
  warn(fields: object, message: string): void;
  /** What failed for good, and a second payment. */
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
 * Writes one line. A logger that throws must not turn what was done into a failure, and one whose promise
 * rejects must not end the process.
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

/** How long something took that began at `startedAtMs` of `performance.now()`: in milliseconds, to the microsecond. */
export function durationSince(startedAtMs: number): number {
  return Math.round((performance.now() - startedAtMs) * 1_000) / 1_000;
}
