/**
 * The name of a method of `PaymentClient` that checks a creation and sends nothing: an outbox checks
 * before it stores. Known to every copy of the package.
 */
export const PREPARE_CREATION: unique symbol = Symbol.for(
  'merchant-payments.prepareCreation',
) as never;

/** A creation that is checked, and not sent yet. */
export interface PreparedCreation<Result> {
  /** The body as it would be sent, as JSON. */
  readonly body: string;
  /** The deadline of the call, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the client would send again what may have been processed. */
  readonly retryUnknownOutcome: boolean;
  /** Sends it with this deadline in place of {@link timeoutMs}, and fails as `payments.create` does. */
  send(timeoutMs: number): Promise<Result>;
}
