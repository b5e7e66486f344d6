import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { checkFault } from '../../src/mock-server/faults/fault-list.js';
import { findCreatePaymentIssues } from '../../src/protocol/creation.js';
import { findStatusRecordIssues } from '../../src/protocol/payment.js';

describe('every schema', () => {
  const { customError, localeError } = z.config();
  afterEach(() => {
    z.config({ customError, localeError });
  });

  // zod's own may quote the value, and a user could set others.
  it('has an error of its own', () => {
    z.config({ customError: () => 'foreign', localeError: () => 'foreign' });
    const types = ['rate-limit', 'client-error', 'delay', 'duplicate', 'reorder'];
    const fault = fc.record(
      {
        on: fc.oneof(fc.constantFrom('request', 'callback'), fc.anything()),
        type: fc.oneof(fc.constantFrom(...types), fc.anything()),
        times: fc.anything(),
        match: fc.anything(),
        status: fc.anything(),
        copies: fc.anything(),
        field: fc.anything(),
      },
      { requiredKeys: ['on', 'type'] },
    );
    const messagesOf: [fc.Arbitrary<unknown>, (value: unknown) => unknown][] = [
      [fc.anything(), findStatusRecordIssues],
      [fc.anything(), findCreatePaymentIssues],
      [fault, (value) => attempt(() => checkFault(value))],
    ];
    for (const [values, find] of messagesOf) {
      fc.assert(
        fc.property(values, (value) => {
          expect(JSON.stringify(find(value) ?? [])).not.toMatch(/foreign|Invalid input/);
        }),
        { numRuns: 1000 },
      );
    }
  });
});

function attempt(run: () => unknown): string {
  try {
    run();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}
