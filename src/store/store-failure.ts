import { MerchantPaymentsError, StoreError } from '../errors.js';

/** Wraps a driver's error, so that users see an error of this package. */
export function explainStep(error: unknown, what: string): MerchantPaymentsError {
  if (error instanceof MerchantPaymentsError) return error;
  return new StoreError(
    'STORE_FAILED',
    `${what} failed during a step of the inbox; see cause. It is unknown whether the step was done; it is safe to repeat it`,
    { cause: error },
  );
}

// The server's clock may run a little faster than this machine's.
const USED_UP = 0.95;

/**
 * Decides about a claim whose statement was cancelled. If the time for the lock is over, another change holds it.
 * Before that, the cancellation says nothing about the lock, and would go on unnoticed as `busy`.
 *
 * @param limit the server's setting that cancels statements
 * @throws {StoreError} `STORE_FAILED` when some of the time was left
 */
export function assertUsedUp(
  { waitedMs, lockTimeoutMs }: { readonly waitedMs: number; readonly lockTimeoutMs: number },
  { what, limit }: { readonly what: string; readonly limit: string },
  cause: unknown,
): void {
  if (waitedMs >= lockTimeoutMs * USED_UP) return;
  throw new StoreError(
    'STORE_FAILED',
    `${what} cancelled a statement of the claim after ${Math.round(waitedMs)} ms, although the claim may wait ${lockTimeoutMs} ms for its lock (lockTimeoutMs); nothing was processed. Either a statement timeout of the role, the pool or the server (${limit}) is too short, or someone cancelled the statement: set that timeout for the inbox's connections to more than lockTimeoutMs, or lower lockTimeoutMs`,
    { cause },
  );
}

/** Passes on the promise's value, and wraps its failure by {@link explainStep}. */
export type Step = <Value>(running: Promise<Value>) => Promise<Value>;

/** Creates the wrapper for a store's steps. */
export function createStep(what: string, explain: (error: unknown) => unknown): Step {
  return (running) =>
    running.catch((error) => {
      throw explainStep(explain(error), what);
    });
}

/** Runs a delivery as a step. If `work` throws, its error is passed on unwrapped. */
export async function deliverAsStep<Context, Result>(
  asStep: Step,
  work: (context: Context) => Promise<void>,
  deliver: (work: (context: Context) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  let hasThrown = false;
  const delivering = deliver(async (context) => {
    try {
      await work(context);
    } catch (error) {
      hasThrown = true;
      throw error;
    }
  });
  return delivering.catch((error) => {
    if (hasThrown) throw error;
    return asStep(delivering);
  });
}
