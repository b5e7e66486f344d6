import { MerchantPaymentsError } from '../errors.js';
import { durationSince, type Logger, referenceFields, writeLine } from '../protocol/logger.js';
import { fieldOfAny } from '../protocol/own-fields.js';
import type { Backend } from './backend.js';
import type { ManagedStore } from './callback-store.js';
import type { MissedPayment } from './looks.js';
import { ManagedEngine } from './managed-engine.js';
import type { ClientOptions, ResolvedStoreOptions } from './options.js';
import { PaymentEngine } from './payment-engine.js';
import type { PaymentStore, Recovery } from './payment-store.js';
import type { StoredPayment } from './stored-payment.js';

/** The store over a backend: a {@link PaymentStore} if there is a client. */
export function createStore<Tx>(
  backend: Backend<Tx>,
  options: ResolvedStoreOptions,
): ManagedStore<Tx> | PaymentStore<Tx> {
  const { client, logger } = options;
  if (client === undefined) return new ManagedEngine(backend, options);
  const withClient = { ...options, client };
  if (logger === undefined) return new PaymentEngine(backend, withClient);
  return new LoggingEngine(backend, { ...withClient, logger });
}

type Operation = 'create' | 'send' | 'record' | 'markCreated' | 'markNotCreated' | 'recover';
type Input<Name extends Operation, Tx> = Parameters<PaymentEngine<Tx>[Name]>;

/** Writes a log line about each operation. */
class LoggingEngine<Tx> extends PaymentEngine<Tx> {
  readonly #logger: Logger;

  constructor(backend: Backend<Tx>, options: ClientOptions & { readonly logger: Logger }) {
    super(backend, options);
    this.#logger = options.logger;
  }

  override async create(...args: Input<'create', Tx>): Promise<StoredPayment> {
    const line = this.#begin('create', referencesIn(args));
    return await this.#end(line, super.create(...args), describePayment);
  }

  override async send(...args: Input<'send', Tx>): Promise<StoredPayment> {
    const line = this.#begin('send', { merchantPaymentReference: args[0] });
    return await this.#end(line, super.send(...args), describePayment);
  }

  override async record(...args: Input<'record', Tx>): Promise<void> {
    const line = this.#begin('record', referencesIn(args));
    return await this.#end(line, super.record(...args));
  }

  override async markCreated(...args: Input<'markCreated', Tx>): Promise<void> {
    const [merchantPaymentReference, found] = args;
    const referenceNumber = fieldOfAny(found, 'referenceNumber');
    const line = this.#begin('markCreated', { merchantPaymentReference, referenceNumber });
    return await this.#end(line, super.markCreated(...args));
  }

  override async markNotCreated(...args: Input<'markNotCreated', Tx>): Promise<void> {
    const line = this.#begin('markNotCreated', referencesIn(args));
    return await this.#end(line, super.markNotCreated(...args));
  }

  override async recover(...args: Input<'recover', Tx>): Promise<Recovery> {
    const line = this.#begin('recover', {});
    return await this.#end(line, super.recover(...args), describeRecovery);
  }

  protected override onMissed(found: MissedPayment): void {
    const fields = { operation: 'recover', ...referenceFields(found) };
    const message = 'a payment is paid at the service, and no callback about it has come';
    writeLine(this.#logger, 'error', { fields, message });
  }

  /** The references are read now, as the caller may change them later. */
  #begin(operation: Operation, given: Parameters<typeof referenceFields>[0]): Begun {
    return { operation, references: referenceFields(given), startedAtMs: performance.now() };
  }

  // Takes a promise, not a function: each frame of the package's takes one of the ten that V8 keeps in a stack.
  async #end<Value>(
    { operation, references, startedAtMs }: Begun,
    running: Promise<Value>,
    describe: (value: Value) => Line = () => ({}),
  ): Promise<Value> {
    const write = (level: keyof Logger, message: string, more: object | undefined): void => {
      const named = level === 'debug' ? {} : references;
      const fields = { operation, ...named, ...more, durationMs: durationSince(startedAtMs) };
      writeLine(this.#logger, level, { fields, message });
    };
    try {
      const value = await running;
      const { level = 'debug', message = `store ${operation} done`, ...line } = describe(value);
      write(level, message, line.fields);
      return value;
    } catch (error) {
      write('error', `store ${operation} failed`, describeError(error));
      throw error;
    }
  }
}

interface Begun {
  readonly operation: Operation;
  readonly references: ReturnType<typeof referenceFields>;
  readonly startedAtMs: number;
}

const referencesIn = ([input]: readonly unknown[]) => ({
  merchantPaymentReference: fieldOfAny(input, 'merchantPaymentReference'),
});

/** The log line for an operation's result. */
interface Line {
  readonly fields?: object;
  readonly level?: 'warn';
  readonly message?: string;
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
