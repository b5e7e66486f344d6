/**
 * The name of the method of `PaymentClient` with which a store checks a creation before it stores it.
 * Nothing is sent. A registered symbol, so that all copies of the package share it.
 */
export const PREPARE_CREATION: unique symbol = Symbol.for(
  'merchant-payments.prepareCreation',
) as never;

/** A creation that was checked but not sent. */
export interface PreparedCreation<Result> {
  /** The body as it would be sent, as JSON. */
  readonly body: string;
  /** The deadline of the call, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the client would resend a request that may have been processed. */
  readonly retryUnknownOutcome: boolean;
  /** Sends it with this deadline instead of {@link timeoutMs}, and fails as `payments.create` does. */
  send(timeoutMs: number): Promise<Result>;
}
