/**
 * The name of a method of `PaymentClient` that checks a creation and sends nothing: an outbox checks
 * before it stores. Known to every copy of the package.
 */
export const PREPARE_CREATION: unique symbol = Symbol.for(
  'merchant-payments.prepareCreation',
) as never;

/** A creation that would be sent. */
export interface PreparedCreation {
  /** The body as it would be sent, as JSON. */
  readonly body: string;
  /** The deadline of the call, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the client would send again what may have been processed. */
  readonly retryUnknownOutcome: boolean;
}
