import { MerchantPaymentsError } from '../errors.js';
import { shownReference } from '../protocol/log-context.js';
import { durationSince, type Logger, writeLine } from '../protocol/logger.js';
import type { OutboxPayment, PaymentOutbox, Recovery, SettleOutcome } from './outbox.js';

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

/** Wraps the operations of this outbox so that each writes a log line. Without a logger, does nothing. */
export function logOperations<Tx>(
  outbox: PaymentOutbox<Tx>,
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
          message: message ?? `outbox ${name} done`,
        });
      };
      try {
        const result = (await operation.apply(outbox, args)) as Awaited<ReturnType<Operation>>;
        write(describe(result), 'debug');
        return result;
      } catch (error) {
        write({ fields: describeError(error), message: `outbox ${name} failed` }, 'error');
        throw error;
      }
    };
    return logged as Operation;
  };
  const { create, send, record, settle, resolve, recover } = outbox;
  Object.assign(outbox, {
    create: wrap(create, 'create', (input) => input?.merchantPaymentReference, describePayment),
    send: wrap(send, 'send', (reference) => reference, describePayment),
    record: wrap(
      record,
      'record',
      (input) => input?.merchantPaymentReference,
      () => ({}),
    ),
    settle: wrap(settle, 'settle', (payment) => payment?.merchantPaymentReference, describeSettled),
    resolve: wrap(
      resolve,
      'resolve',
      (reference) => reference,
      () => ({}),
    ),
    recover: wrap(recover, 'recover', () => undefined, describeRecovery),
  });
}

function describePayment({ state, replayed, attempts, failure }: OutboxPayment): Line {
  const fields = { state, replayed, attempts, ...failure };
  if (state !== 'unresolved') return { fields };
  return { fields, level: 'warn', message: 'a payment is unresolved' };
}

function describeSettled(settled: SettleOutcome): Line {
  if (settled !== 'second-payment') return { fields: { settled } };
  return { fields: { settled }, level: 'error', message: 'an order has a second payment' };
}

function describeRecovery({ error, ...counts }: Recovery): Line {
  const fields = { ...counts, ...describeError(error) };
  if (error !== undefined) return { fields, level: 'warn', message: 'outbox recover ended early' };
  if (counts.rejected !== undefined) {
    return { fields, level: 'warn', message: 'outbox recover had payments rejected' };
  }
  if (counts.unresolved === 0) return { fields };
  return { fields, level: 'warn', message: 'outbox recover found unresolved payments' };
}

function describeError(error: unknown): object {
  if (!(error instanceof MerchantPaymentsError)) return {};
  const { code, requestOutcome } = error;
  return { code, ...(requestOutcome !== undefined && { requestOutcome }) };
}
