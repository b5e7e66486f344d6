import { MerchantPaymentsError } from '../errors.js';
import { durationSince, type Logger, referenceFields, writeLine } from '../protocol/logger.js';
import type { Recovery } from './payment-store.js';
import type { StoredPayment } from './stored-payment.js';

/** An operation of a store, and what it is about. */
interface Operation<Value> {
  readonly name: 'create' | 'send' | 'record' | 'markCreated' | 'markNotCreated' | 'recover';
  readonly references?: Parameters<typeof referenceFields>[0];
  readonly describe?: (value: Value) => Line;
}

/** The log line for an operation's result. */
interface Line {
  readonly fields?: object;
  readonly level?: 'warn';
  readonly message?: string;
}

/** Writes a line about an operation that was begun, and lets the stack of its error name the caller. */
export async function logged<Value>(
  logger: Logger | undefined,
  { name, references: given = {}, describe = () => ({}) }: Operation<Value>,
  running: Promise<Value>,
): Promise<Value> {
  // Read now, as the caller may change them later.
  const references = logger && referenceFields(given);
  const startedAtMs = performance.now();
  const write = (level: keyof Logger, message: string, more: object | undefined): void => {
    if (logger === undefined) return;
    const shown = level === 'debug' ? {} : references;
    const fields = { operation: name, ...shown, ...more, durationMs: durationSince(startedAtMs) };
    writeLine(logger, level, { fields, message });
  };
  try {
    const value = await running;
    nameCaller((value as { readonly error?: unknown } | undefined)?.error);
    const { level = 'debug', message = `store ${name} done`, fields } = describe(value);
    write(level, message, fields);
    return value;
  } catch (error) {
    nameCaller(error);
    write('error', `store ${name} failed`, describeError(error));
    throw error;
  }
}

/** Where the error arose, the package fills the ten frames that V8 keeps. */
function nameCaller(error: unknown): void {
  if (!(error instanceof MerchantPaymentsError)) return;
  // What the client finds invalid it refuses at once, so that its stack names the caller already.
  const isRefusedAtOnce = error.requestOutcome === 'not-sent' && /^INVALID_/.test(error.code);
  if (!isRefusedAtOnce) Error.captureStackTrace?.(error);
}

export function describePayment(stored: StoredPayment): Line {
  const { state, replayed, attempts, error } = stored;
  const failure = state === 'sending' ? undefined : stored.failure;
  const fields = { state, replayed, attempts, ...failure };
  if (state === 'unresolved') return { fields, level: 'warn', message: 'a payment is unresolved' };
  const isSent = error === undefined || state === 'created';
  return isSent ? { fields } : { fields, level: 'warn', message: 'a payment was not created' };
}

export function describeRecovery({ error, ...counts }: Recovery): Line {
  const fields = { ...counts, ...describeError(error) };
  if (error !== undefined) return { fields, level: 'warn', message: 'store recover ended early' };
  if (counts.rejected !== undefined) {
    return { fields, level: 'warn', message: 'store recover had payments rejected' };
  }
  if (counts.unresolved === 0) return { fields };
  return { fields, level: 'warn', message: 'store recover found unresolved payments' };
}

function describeError(error: unknown): object {
  if (!(error instanceof MerchantPaymentsError)) return {};
  const { code, requestOutcome } = error;
  return { code, ...(requestOutcome !== undefined && { requestOutcome }) };
}
