import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { VerifiedCallback } from '../../../src/callback/options.js';
import { createCallbackVerifier } from '../../../src/callback/verify.js';
import { createAsyncCallbackVerifier } from '../../../src/callback/verify-async.js';
import { CallbackVerificationError } from '../../../src/errors.js';
import { isDateTime } from '../../../src/protocol/payment.js';
import { mutatedFields, recordFields } from '../../callback/contract/arbitraries.js';
import { now, SECRET, sampleRecord, sampleRequest } from '../../callback/sample-callback.js';
import { checkBatches, type FuzzOptions, type FuzzResult, Tally } from '../property-runs.js';

// Texts that are equal to one another in some reading or other, and of which few are equal in truth.
const similarText = fc.oneof(
  fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('1', '.', 'a') }),
  fc.constantFrom('\ud800', '\ud801', '\udc00', '\ufffd', '\ud83d\ude00', 'é', 'e\u0301', 'É'),
  fc.constantFrom('"', '\\ud800', '\0', ' ', '__proto__'),
);
const similarTime = fc.constantFrom(
  '2026-01-31T12:00:05Z',
  '2026-01-31T12:00:05z',
  '2026-01-31T12:00:05+00:00',
  '2026-01-31T14:00:05.000+02:00',
  '2026-01-31T12:00:05+02:00',
);

const similarRecords = fc
  .record({ referenceNumber: similarText, status: similarText, updatedAt: similarTime })
  .map((fields) => JSON.stringify(sampleRecord(fields)));

const RECORD = JSON.stringify(sampleRecord());

const wrapped = fc.tuple(fc.nat(30_000), fc.constantFrom('[', '{"a":')).map(([depth, open]) => {
  const close = open === '[' ? ']' : '}';
  return RECORD.replace('}', `,"nested":${open.repeat(depth)}1${close.repeat(depth)}}`);
});

const bodies: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  { weight: 30, arbitrary: similarRecords },
  { weight: 10, arbitrary: recordFields.map((fields) => JSON.stringify(sampleRecord(fields))) },
  { weight: 10, arbitrary: mutatedFields.map((fields) => JSON.stringify(sampleRecord(fields))) },
  { weight: 5, arbitrary: fc.json() },
  { weight: 5, arbitrary: fc.uint8Array({ maxLength: 60 }) },
  {
    weight: 5,
    arbitrary: fc
      .tuple(fc.json(), fc.constantFrom('status', '__proto__', 'constructor', 'toString', 'then'))
      .map(([value, name]) => RECORD.replace('{', `{"${name}":${value},`)),
  },
  { weight: 1, arbitrary: wrapped },
);

const verifyByNode = createCallbackVerifier({ signingSecret: SECRET, now });
const verifyByWeb = createAsyncCallbackVerifier({ signingSecret: SECRET, now });

/** An authentic body is a record or INVALID_RECORD, and its key tells its change from any other. */
export async function fuzzRecords(options: FuzzOptions): Promise<FuzzResult> {
  const tally = new Tally();
  const cases = await checkBatches({
    ...options,
    arbitrary: bodies,
    batchSize: 100,
    async check(batch) {
      const changes = new Map<string, string>();
      for (const body of batch) {
        const request = sampleRequest({ body });
        const verified = await verifiedBy(() => verifyByNode(request));
        assert.deepEqual((await verifiedBy(() => verifyByWeb(request)))?.key, verified?.key);
        tally.add(verified === undefined ? 'INVALID_RECORD' : 'record');
        if (verified !== undefined) expectRecord(verified, body, changes);
      }
    },
  });
  return { cases, counts: tally.counts };
}

async function verifiedBy(
  verify: () => VerifiedCallback | Promise<VerifiedCallback>,
): Promise<VerifiedCallback | undefined> {
  try {
    return await verify();
  } catch (error) {
    if (error instanceof CallbackVerificationError && error.code === 'INVALID_RECORD') return;
    throw error;
  }
}

/** Without what is left out of a record: fields of another type, by which nothing is decided. */
function withoutUnusable(record: Record<string, unknown>): Record<string, unknown> {
  const { providerReference = null, createdAt = null } = record;
  if (providerReference !== null && typeof providerReference !== 'string')
    delete record['providerReference'];
  if (createdAt !== null && !isDateTime(createdAt)) delete record['createdAt'];
  return record;
}

function expectRecord(
  { payment, key }: VerifiedCallback,
  body: string | Uint8Array,
  changes: Map<string, string>,
): void {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString();
  // Deeper than that the comparison itself runs out of stack.
  if (text.length < 1_000) {
    assert(isDeepStrictEqual(payment, withoutUnusable(JSON.parse(text))), 'another record');
  }
  assert.match(key, /^[A-Za-z0-9._-]{1,128}$/);
  const { referenceNumber, status, updatedAt } = payment;
  const change = JSON.stringify([referenceNumber, status, Date.parse(updatedAt)]);
  const known = changes.get(key);
  assert(known === undefined || known === change, `one key for ${known} and ${change}`);
  for (const [otherKey, other] of changes) assert(other !== change || otherKey === key);
  changes.set(key, change);
}
