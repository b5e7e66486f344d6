import { InboxError, MerchantPaymentsError } from '../errors.js';

/** What users get for the failure of a step that they ask for themselves: no error of a driver. */
export function explainStep(error: unknown, what: string): MerchantPaymentsError {
  if (error instanceof MerchantPaymentsError) return error;
  return new InboxError(
    'STORE_FAILED',
    `${what} failed during a step of the inbox; cause says how. It is not known whether the step was done; it is safe to repeat it`,
    { cause: error },
  );
}

/** Explains the failure of what is running, and passes on what it gives. */
export type Step = <Value>(running: Promise<Value>) => Promise<Value>;

/** What explains the failures of a store's steps. */
export function createStep(what: string, explain: (error: unknown) => unknown): Step {
  return (running) =>
    running.catch((error) => {
      throw explainStep(explain(error), what);
    });
}

/** A delivery as a step, unless `work` threw: that, and what comes of it, stays as it is. */
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
