import type { PaymentClient } from '../client/payment-client.js';
import { type Logger, loggerRule } from '../protocol/logger.js';
import {
  hasMethod,
  listOf,
  matching,
  type OptionRules,
  optional,
  type Resolved,
  text,
  timerMs,
  withDefault,
} from '../protocol/options.js';

/** What a store needs of a client, so that a test's double of one fits too. */
export type StoreClient = Pick<PaymentClient, 'payments'>;

/** Options of every store of this package. */
export interface StoreOptions {
  /**
   * Sends the payments: with it, the store is a `PaymentStore`. If it has `idempotency`, `recover` sends unresolved
   * payments again. The store does not close it.
   * @default none: the store handles callbacks alone
   */
  client?: StoreClient | undefined;
  /**
   * The statuses of a payment after which its customer may try again, such as `['declined']`: the interface names none.
   * `create` and `record` for an order whose latest payment has one of them make a further attempt, under a reference that
   * the store names (`order-2`, …). Calls for the order then mean its latest attempt, and once one has paid it, that one.
   * @default none: only `replaces` makes a further attempt
   */
  declined?: readonly string[] | undefined;
  /**
   * How long a process may take to send a payment, in milliseconds, before it counts as dead and the payment becomes
   * `unresolved`. A call may take at most half of it, whatever its `timeoutMs`. A whole number from 100 to 2_147_483_647.
   * @default the call's timeoutMs plus 10 s
   */
  leaseMs?: number | undefined;
  /**
   * How long the service may take to act on a request, counted from its claim, with all retries and stalls, in
   * milliseconds. Only then `attention()` lists an unresolved payment, and `recover` sends it again after a look; if the
   * service takes longer, that may be a second one. A whole number from 100 to 2_147_483_647, at least `leaseMs`, or
   * without that option the call's `timeoutMs` plus 10 s.
   * @default 900_000 (15 minutes)
   */
  requestLifetimeMs?: number | undefined;
  /**
   * Receives a line for each `create`, `send`, `record`, `markCreated`, `markNotCreated` and `recover`: pino, or console.
   * At `debug` for success, at `warn` for a payment that was not created and for a `recover` that ended early or had
   * payments rejected, at `error` for failures and for a payment that `lookUp` has found paid without a callback. Lines at
   * `warn` and `error` have the payment's references; none has a body or an error's message.
   */
  logger?: Logger | undefined;
}

/** One rule for each option. */
export const storeRules = {
  client: optional(
    matching<StoreClient>('a PaymentClient', (client: Partial<StoreClient> | null) =>
      hasMethod(client?.payments, 'create'),
    ),
  ),
  declined: optional(listOf(text, 'statuses')),
  leaseMs: optional(timerMs(100)),
  requestLifetimeMs: withDefault(900_000, timerMs(100)),
  logger: optional(loggerRule),
} satisfies OptionRules<StoreOptions>;

/** Options of every store, checked and with defaults. */
export type ResolvedStoreOptions = Resolved<typeof storeRules>;

/** Those of a store with a client. */
export type ClientOptions = ResolvedStoreOptions & { readonly client: StoreClient };
