import { InboxError, MerchantPaymentsError } from '../errors.js';

/** Wraps a driver's error, so that users see an error of this package. */
export function explainStep(error: unknown, what: string): MerchantPaymentsError {
  if (error instanceof MerchantPaymentsError) return error;
  return new InboxError(
    'STORE_FAILED',
    `${what} failed during a step of the inbox; see cause. It is unknown whether the step was done; it is safe to repeat it`,
    { cause: error },
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
