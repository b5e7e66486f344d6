import type { PaymentClient } from '../client/payment-client.js';
import { matching, type OptionRules, optional, timerMs } from '../protocol/options.js';
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
}

/** One rule for each option. */
export const outboxRules = {
  client: matching<PaymentClient>(
    'a PaymentClient',
    (client: object | null | undefined) =>
      typeof (client as Partial<PaymentClient> | null | undefined)?.[PREPARE_CREATION] ===
      'function',
  ),
  leaseMs: optional(timerMs(100)),
} satisfies OptionRules<OutboxOptions>;
