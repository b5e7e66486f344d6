import { describe } from 'vitest';
import { describeBodies } from './contract/bodies.js';
import { describeCallbackKey } from './contract/callback-key.js';
import { describeCallbackKeyProperties } from './contract/callback-key-properties.js';
import { describeEncodings } from './contract/encodings.js';
import { describeHeaders } from './contract/headers.js';
import type { Implementation } from './contract/implementation.js';
import { describeOptions } from './contract/options.js';
import { describeOrder } from './contract/order.js';
import { describeProperties } from './contract/properties.js';
import { describeRecordSchema } from './contract/record-schema.js';
import { describeRecords } from './contract/records.js';
import { describeSecrets } from './contract/secrets.js';
import { describeSignatures } from './contract/signatures.js';
import { describeTimestamps } from './contract/timestamps.js';
import { describeVectors } from './contract/vectors.js';

/** What every callback verifier of this package promises. */
export function describeVerifierContract(implementation: Implementation): void {
  describe(implementation.name, () => {
    describeVectors(implementation);
    describeCallbackKey(implementation);
    describeTimestamps(implementation);
    describeSignatures(implementation);
    describeOrder(implementation);
    describeHeaders(implementation);
    describeBodies(implementation);
    describeEncodings(implementation);
    describeRecords(implementation);
    describeRecordSchema(implementation);
    describeSecrets(implementation);
    describeOptions(implementation);
  });
}

/** What holds for any callback, tried on thousands of them. */
export function describeVerifierProperties(implementation: Implementation): void {
  describe(implementation.name, () => {
    describeCallbackKeyProperties(implementation);
    describeProperties(implementation);
  });
}
