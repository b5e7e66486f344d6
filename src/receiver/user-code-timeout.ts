import { within } from '../protocol/within.js';

/** How long the merchant's `signingSecret` or `recordSchema` may take, in milliseconds. */
export const USER_CODE_TIMEOUT_MS = 10_000;

/** Limits the wait for the merchant's code: if it hangs, callbacks must not wait forever. */
export const withUserCodeTimeout = <Value>(given: PromiseLike<Value>, tooLate: () => Error) =>
  within(USER_CODE_TIMEOUT_MS, given, () => {
    throw tooLate();
  });
