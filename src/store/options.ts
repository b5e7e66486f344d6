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
  /** Sends the payments. It must not have `retryUnknownOutcome`. The outbox does not close it. */
  client: PaymentClient;
  /**
   * How long a process may take to send a payment, in milliseconds, before it counts as dead and the payment becomes
   * `unresolved`. A call may take at most half of this, whatever its `timeoutMs`. A whole
   * number from 100 to 2_147_483_647.
   * @default the call's timeoutMs plus 10 s
   */
  leaseMs?: number | undefined;
  /**
   * Receives a line for each `create`, `send`, `record`, `settle`, `resolve` and `recover`: pino, or console.
   * The level is `debug` for success, `warn` for an unresolved payment and for a `recover` that ended early or had
   * payments rejected, and `error` for failures and second payments. Bodies and error messages are not logged.
   */
  logger?: Logger | undefined;
  /**
   * Whether the log lines show the `merchantPaymentReference`, which may name a customer.
   * @default false
   */
  logReferences?: boolean | undefined;
}

/** The rules of the options for sending. */
export const outboxRules = {
  client: matching<PaymentClient>(
    'a PaymentClient',
    (client: object | null | undefined) =>
      typeof (client as Partial<PaymentClient> | null | undefined)?.[PREPARE_CREATION] ===
      'function',
  ),
  leaseMs: optional(timerMs(100)),
} satisfies Partial<OptionRules<OutboxOptions>>;

/** The rules of the options for logging. */
export const logRules = {
  logger: optional(loggerRule),
  logReferences: withDefault(false, boolean),
} satisfies Omit<OptionRules<OutboxOptions>, keyof typeof outboxRules>;
