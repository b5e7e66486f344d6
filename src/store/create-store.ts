import { MerchantPaymentsError } from '../errors.js';
import { durationSince, type Logger, shownReference, writeLine } from '../protocol/logger.js';
import { fieldOfAny } from '../protocol/own-fields.js';
import type { Backend } from './backend.js';
import type { ManagedStore } from './callback-store.js';
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
  if (client === undefined) return new ManagedEngine(backend);
  const withClient = { ...options, client };
  if (logger === undefined) return new PaymentEngine(backend, withClient);
  return new LoggingEngine(backend, { ...withClient, logger });
}

type Operation = 'create' | 'send' | 'record' | 'resolve' | 'recover';
type Input<Name extends Operation, Tx> = Parameters<PaymentEngine<Tx>[Name]>;

/** Writes a log line about each operation. */
class LoggingEngine<Tx> extends PaymentEngine<Tx> {
  readonly #logger: Logger;
  readonly #logReferences: boolean;

  constructor(backend: Backend<Tx>, options: ClientOptions & { readonly logger: Logger }) {
    super(backend, options);
    this.#logger = options.logger;
    this.#logReferences = options.logReferences;
  }

  override async create(...args: Input<'create', Tx>): Promise<StoredPayment> {
    const line = this.#begin('create', referenceIn(args));
    return await this.#end(line, super.create(...args), describePayment);
  }

  override async send(...args: Input<'send', Tx>): Promise<StoredPayment> {
    const line = this.#begin('send', args[0]);
    return await this.#end(line, super.send(...args), describePayment);
  }

  override async record(...args: Input<'record', Tx>): Promise<void> {
    const line = this.#begin('record', referenceIn(args));
    return await this.#end(line, super.record(...args));
  }

  override async resolve(...args: Input<'resolve', Tx>): Promise<void> {
    const line = this.#begin('resolve', args[0]);
    return await this.#end(line, super.resolve(...args));
  }

  override async recover(...args: Input<'recover', Tx>): Promise<Recovery> {
    const line = this.#begin('recover', undefined);
    return await this.#end(line, super.recover(...args), describeRecovery);
  }

  /** The reference is read now, as the caller may change it later. */
  #begin(operation: Operation, merchantPaymentReference: unknown): Begun {
    const fields = { operation, ...shownReference(this.#logReferences, merchantPaymentReference) };
    return { fields, startedAtMs: performance.now() };
  }

  // Takes a promise, not a function: each frame of the package's takes one of the ten that V8 keeps in a stack.
  async #end<Value>(
    { fields, startedAtMs }: Begun,
    running: Promise<Value>,
    describe: (value: Value) => Line = () => ({}),
  ): Promise<Value> {
    const write = (level: keyof Logger, message: string, more: object | undefined): void => {
      const durationMs = durationSince(startedAtMs);
      writeLine(this.#logger, level, { fields: { ...fields, ...more, durationMs }, message });
    };
    try {
      const value = await running;
      const {
        level = 'debug',
        message = `store ${fields.operation} done`,
        ...line
      } = describe(value);
      write(level, message, line.fields);
      return value;
    } catch (error) {
      write('error', `store ${fields.operation} failed`, describeError(error));
      throw error;
    }
  }
}

interface Begun {
  readonly fields: { readonly operation: Operation };
  readonly startedAtMs: number;
}

const referenceIn = ([input]: readonly unknown[]): unknown =>
  fieldOfAny(input, 'merchantPaymentReference');

/** The log line for an operation's result. */
interface Line {
  readonly fields?: object;
  readonly level?: 'warn';
  readonly message?: string;
}

function describePayment({ state, replayed, attempts, failure }: StoredPayment): Line {
  const fields = { state, replayed, attempts, ...failure };
  if (state !== 'unresolved') return { fields };
  return { fields, level: 'warn', message: 'a payment is unresolved' };
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
