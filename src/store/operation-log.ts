import { MerchantPaymentsError } from '../errors.js';
import { shownReference } from '../protocol/log-context.js';
import { durationSince, type Logger, writeLine } from '../protocol/logger.js';
import { fieldOfAny } from '../protocol/own-fields.js';
import type { PaymentStore, Recovery } from './payment-store.js';
import type { StoredPayment } from './stored-payment.js';

interface LogSettings {
  readonly logger: Logger | undefined;
  readonly logReferences: boolean;
}

/** The log line for an operation's result. */
interface Line {
  readonly fields?: object;
  readonly level?: 'warn' | 'error';
  readonly message?: string;
}

type Method = (...args: never[]) => Promise<unknown>;

/** Wraps the operations of this store so that each writes a log line. Without a logger, does nothing. */
export function logOperations<Tx>(
  store: PaymentStore<Tx>,
  { logger, logReferences }: LogSettings,
): void {
  if (logger === undefined) return;
  const wrap = <Operation extends Method>(
    operation: Operation,
    name: string,
    referenceOf: (...args: Parameters<Operation>) => unknown,
    describe: (result: Awaited<ReturnType<Operation>>) => Line,
  ): Operation => {
    const logged = async (...args: Parameters<Operation>): Promise<unknown> => {
      const startedAtMs = performance.now();
      // Read now, as the caller may change it later.
      const reference = shownReference(logReferences, referenceOf(...args));
      const write = ({ fields, level, message }: Line, fallback: keyof Logger): void => {
        const durationMs = durationSince(startedAtMs);
        writeLine(logger, level ?? fallback, {
          fields: { operation: name, ...reference, ...fields, durationMs },
          message: message ?? `store ${name} done`,
        });
      };
      try {
        const result = (await operation.apply(store, args)) as Awaited<ReturnType<Operation>>;
        write(describe(result), 'debug');
        return result;
      } catch (error) {
        write({ fields: describeError(error), message: `store ${name} failed` }, 'error');
        throw error;
      }
    };
    return logged as Operation;
  };
  const { create, send, record, resolve, recover } = store;
  Object.assign(store, {
    create: wrap(
      create,
      'create',
      (input) => fieldOfAny(input, 'merchantPaymentReference'),
      describePayment,
    ),
    send: wrap(send, 'send', (reference) => reference, describePayment),
    record: wrap(
      record,
      'record',
      (input) => fieldOfAny(input, 'merchantPaymentReference'),
      () => ({}),
    ),
    resolve: wrap(
      resolve,
      'resolve',
      (reference) => reference,
      () => ({}),
    ),
    recover: wrap(recover, 'recover', () => undefined, describeRecovery),
  });
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
