import { InvalidOptionError } from '../../../src/errors.js';

/** The error about an option that this throws. */
export function failureOf(build: () => unknown): InvalidOptionError {
  try {
    build();
  } catch (error) {
    if (error instanceof InvalidOptionError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
