import type { PaymentClient } from '../client/payment-client.js';
import { type Logger, loggerRule } from '../protocol/logger.js';
import {
  boolean,
  matching,
  type OptionRules,
  optional,
  timerMs,
  withDefault,
} from '../protocol/options.js';
import { PREPARE_CREATION } from '../protocol/prepared-creation.js';

/** Options of every outbox. */
export interface OutboxOptions {
  /** Sends the payments. Without `retryUnknownOutcome`. It is not closed by the outbox. */
  client: PaymentClient;
  /**
   * How long a process may take to send a payment before it is taken for dead, and the payment is
   * `unresolved`, in milliseconds. A call gets half of it at most, whatever its `timeoutMs`. A whole
   * number from 100 to 2_147_483_647.
   * @default 10 s more than the call's timeoutMs
   */
  leaseMs?: number | undefined;
  /**
   * Receives a line for each `create`, `send`, `record`, `settle`, `resolve` and `recover`: pino, or console.
   * At `debug` what went well, at `warn` a payment that is unresolved, and a `recover` that ended early or had
   * payments rejected, at `error` what failed and a second payment. No bodies, no texts of errors.
   */
  logger?: Logger | undefined;
  /**
   * Whether its log lines show the `merchantPaymentReference`, which may name a customer.
   * @default false
   */
  logReferences?: boolean | undefined;
}

/** What sends payments. */
export const outboxRules = {
  client: matching<PaymentClient>(
    'a PaymentClient',
    (client: object | null | undefined) =>
      typeof (client as Partial<PaymentClient> | null | undefined)?.[PREPARE_CREATION] ===
      'function',
  ),
  leaseMs: optional(timerMs(100)),
} satisfies Partial<OptionRules<OutboxOptions>>;

/** What is logged of it, and where. */
export const logRules = {
  logger: optional(loggerRule),
  logReferences: withDefault(false, boolean),
} satisfies Omit<OptionRules<OutboxOptions>, keyof typeof outboxRules>;
