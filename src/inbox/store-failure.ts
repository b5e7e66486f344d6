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

/** What explains the failures of such steps, and passes on what they give. */
export function createStep(
  what: string,
  explain: (error: unknown) => unknown,
): <Value>(running: Promise<Value>) => Promise<Value> {
  return (running) =>
    running.catch((error) => {
      throw explainStep(explain(error), what);
    });
}
