import { MerchantPaymentsError } from '../errors.js';
import { durationSince, type Logger, referenceFields, writeLine } from '../protocol/logger.js';
import type { Recovery } from './payment-store.js';
import type { StoredPayment } from './stored-payment.js';

type Operation = 'create' | 'send' | 'record' | 'markCreated' | 'markNotCreated' | 'recover';

/** The log line for an operation's result. */
interface Line {
  readonly fields?: object;
  readonly level?: 'warn';
  readonly message?: string;
}

/** Writes a line about each operation that was begun, and lets the stack of its error name the caller. */
export class OperationLog {
  readonly #logger: Logger | undefined;

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  /** @param given the reference that it is about, or an object that has it */
  async of<Value>(operation: Operation, given: unknown, run: () => Promise<Value>): Promise<Value> {
    // Read now, as the caller may change them later.
    const about = typeof given === 'string' ? { merchantPaymentReference: given } : Object(given);
    const begun = { operation, ...(this.#logger && referenceFields(about)) };
    const startedAtMs = performance.now();
    try {
      const value = await run();
      nameCaller((value as { readonly error?: unknown } | undefined)?.error);
      const { level = 'debug', message = `store ${operation} done`, fields } = describe(value);
      const shown = level === 'debug' ? { operation } : begun;
      this.#write(level, message, { ...shown, ...fields, durationMs: durationSince(startedAtMs) });
      return value;
    } catch (error) {
      nameCaller(error);
      const fields = { ...describeError(error), durationMs: durationSince(startedAtMs) };
      this.#write('error', `store ${operation} failed`, { ...begun, ...fields });
      throw error;
    }
  }

  #write(level: keyof Logger, message: string, fields: object): void {
    if (this.#logger !== undefined) writeLine(this.#logger, level, { fields, message });
  }
}

function describe(value: unknown): Line {
  if (value === undefined) return {};
  const isPayment = 'state' in (value as StoredPayment | Recovery);
  return isPayment ? describePayment(value as StoredPayment) : describeRecovery(value as Recovery);
}

/** Where the error arose, the package fills the ten frames that V8 keeps. */
function nameCaller(error: unknown): void {
  if (!(error instanceof MerchantPaymentsError)) return;
  // What the client finds invalid it refuses at once, so that its stack names the caller already.
  const isRefusedAtOnce = error.requestOutcome === 'not-sent' && /^INVALID_/.test(error.code);
  if (!isRefusedAtOnce) Error.captureStackTrace?.(error);
}

function describePayment(stored: StoredPayment): Line {
  const { state, replayed, attempts, error } = stored;
  const failure = state === 'sending' ? undefined : stored.failure;
  const fields = { state, replayed, attempts, ...failure };
  if (state === 'unresolved') return { fields, level: 'warn', message: 'a payment is unresolved' };
  const isSent = error === undefined || state === 'created';
  return isSent ? { fields } : { fields, level: 'warn', message: 'a payment was not created' };
}

function describeRecovery({ error, ...counts }: Recovery): Line {
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
