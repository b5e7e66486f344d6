import { within } from '../protocol/within.js';

/** How long a secret or a schema of the merchant's may take, in milliseconds. */
export const PATIENCE_MS = 10_000;

/** What the merchant's code gives. One that hangs must not hold every callback for ever. */
export const withinPatience = <Value>(given: PromiseLike<Value>, tooLate: () => Error) =>
  within(PATIENCE_MS, given, () => {
    throw tooLate();
  });
