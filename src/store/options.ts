import type { PaymentClient } from '../client/payment-client.js';
import { type Logger, loggerRule } from '../protocol/logger.js';
import {
  boolean,
  hasMethod,
  matching,
  type OptionRules,
  oneOf,
  optional,
  type Resolved,
  timerMs,
  withDefault,
} from '../protocol/options.js';
import { type ServiceProfile, serviceProfile } from '../protocol/service-profile.js';

/** What a store needs of a client, so that a test's double of one fits too. */
export type StoreClient = Pick<PaymentClient, 'payments'>;

/** Options of every store of this package. */
export interface StoreOptions {
  /**
   * Sends the payments: with it, the store is a `PaymentStore`. It must not have `retryUnknownOutcome`. The
   * store does not close it.
   * @default none: the store handles callbacks alone
   */
  client?: StoreClient | undefined;
  /**
   * How long a process may take to send a payment, in milliseconds, before it counts as dead and the payment becomes
   * `unresolved`. A call may take at most half of this, whatever its `timeoutMs`. A whole
   * number from 100 to 2_147_483_647.
   * @default the call's timeoutMs plus 10 s
   */
  leaseMs?: number | undefined;
  /**
   * What the service does with a second creation that has the `merchantPaymentReference` of an earlier one. Set
   * `'same-payment'` only if the service promises that it returns the earlier payment: `recover` then sends unresolved
   * payments again.
   * @default what `profile` says, else 'unknown': what may exist at the service is never sent again
   */
  repeatedReference?: 'unknown' | 'same-payment' | undefined;
  /**
   * What the command `discover` has found out about the service: the content of its file.
   * @default none
   */
  profile?: ServiceProfile | undefined;
  /**
   * Receives a line for each `create`, `send`, `record`, `resolve` and `recover`: pino, or console.
   * The level is `debug` for success, `warn` for an unresolved payment and for a `recover` that ended early or had
   * payments rejected, and `error` for failures. Bodies and error messages are not logged.
   */
  logger?: Logger | undefined;
  /**
   * Whether the log lines show the `merchantPaymentReference`, which may name a customer.
   * @default false
   */
  logReferences?: boolean | undefined;
}

/** One rule for each option. */
export const storeRules = {
  client: optional(
    matching<StoreClient>('a PaymentClient', (client: Partial<StoreClient> | null) =>
      hasMethod(client?.payments, 'create'),
    ),
  ),
  leaseMs: optional(timerMs(100)),
  repeatedReference: optional(oneOf('unknown', 'same-payment')),
  profile: optional(serviceProfile),
  logger: optional(loggerRule),
  logReferences: withDefault(false, boolean),
} satisfies OptionRules<StoreOptions>;

/** Options of every store, checked and with defaults. */
export type ResolvedStoreOptions = Resolved<typeof storeRules>;

/** Those of a store with a client. */
export type ClientOptions = ResolvedStoreOptions & { readonly client: StoreClient };
