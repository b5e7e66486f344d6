import { InvalidRequestError } from '../errors.js';
import { readCreation } from './creation.js';
import type { CreatePaymentInput } from './payment.js';

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
  /** Whether the client has `idempotency`, so that a creation of unknown outcome may be sent again. */
  readonly mayRepeat: boolean;
  /** Sends it with this deadline instead of {@link timeoutMs}, and fails as `payments.create` does. */
  send(timeoutMs: number): Promise<Result>;
}

interface CreationOptions {
  readonly extraBody?: Record<string, unknown> | undefined;
  readonly timeoutMs?: number | undefined;
}

/** A client, or a test's double of one, which has no more than this. */
export interface CreatingClient<Options, Result> {
  readonly payments: { create(input: CreatePaymentInput, options?: Options): Promise<Result> };
  [PREPARE_CREATION]?(
    input: CreatePaymentInput,
    options: Options | undefined,
  ): PreparedCreation<Result>;
}

// The client's default.
const TIMEOUT_MS = 30_000;

/** Prepares a creation, also for a double or a wrapper. Throws as `payments.create` does for what is invalid. */
export function prepareCreation<Options extends CreationOptions, Result>(
  client: CreatingClient<Options, Result>,
  input: CreatePaymentInput,
  options?: Options,
): PreparedCreation<Result> {
  const prepared = client[PREPARE_CREATION]?.(input, options);
  if (prepared !== undefined) return prepared;
  const { issues, input: fields } = readCreation(input);
  if (issues !== undefined) throw new InvalidRequestError(issues);
  return {
    body: JSON.stringify({ ...options?.extraBody, ...fields }),
    timeoutMs: options?.timeoutMs ?? TIMEOUT_MS,
    mayRepeat: false,
    // Without retries: a wrapper of a client hides whether the client repeats a request of unknown outcome.
    send: (timeoutMs) =>
      client.payments.create(fields, { ...(options as Options), maxRetries: 0, timeoutMs }),
  };
}
