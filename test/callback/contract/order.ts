import { describe, expect, it } from 'vitest';
import {
  NOW_SECONDS,
  OTHER_SECRET,
  refusalOf,
  SECRET,
  sampleRecord,
  sign,
} from '../sample-callback.js';
import { type Implementation, sampleVerifier } from './implementation.js';
import { schemaOf } from './record-schema.js';

interface Draft {
  rawBody: unknown;
  timestamp: string | undefined;
  secret: string;
  signature: string | undefined;
}

interface Fault {
  what: string;
  code: string;
  /** Two faults of one part exclude each other. */
  part: 'body' | 'timestamp' | 'signature';
  draft: Partial<Draft>;
}

const fault = (part: Fault['part'], code: string, what: string, draft: Partial<Draft>): Fault => ({
  part,
  code,
  what,
  draft,
});
const [body, time, signed] = ['body', 'timestamp', 'signature'] as const;
const old = String(NOW_SECONDS - 301);

// In the order in which they must be found.
const faults: Fault[] = [
  fault(body, 'RAW_BODY_REQUIRED', 'a parsed body', { rawBody: sampleRecord() }),
  fault(time, 'MISSING_TIMESTAMP', 'no timestamp', { timestamp: undefined }),
  fault(signed, 'MISSING_SIGNATURE', 'no signature', { signature: undefined }),
  fault(time, 'INVALID_TIMESTAMP', 'a timestamp that is no number', { timestamp: '+1' }),
  fault(time, 'TIMESTAMP_OUTSIDE_WINDOW', 'a stale timestamp', { timestamp: old }),
  fault(signed, 'INVALID_SIGNATURE', 'a malformed signature', { signature: 'sha256=zz' }),
  fault(signed, 'SIGNATURE_MISMATCH', 'another secret', { secret: OTHER_SECRET }),
  fault(body, 'INVALID_RECORD', 'a body that is no JSON', { rawBody: '{"status":' }),
  fault(body, 'INVALID_RECORD', 'no UTF-8', { rawBody: Buffer.from([0x7b, 0xff, 0x7d]) }),
  fault(body, 'INVALID_RECORD', 'JSON that is no record', { rawBody: '{}' }),
];

const pairs = faults.flatMap((earlier, index) =>
  faults
    .slice(index + 1)
    .filter(({ part }) => part !== earlier.part)
    .map((later) => ({ earlier, later })),
);

function build(...applied: Fault[]) {
  const right: Draft = {
    rawBody: JSON.stringify(sampleRecord()),
    timestamp: String(NOW_SECONDS),
    secret: SECRET,
    signature: 'by the secret',
  };
  const drafts = applied.map(({ draft }) => draft);
  const { rawBody, timestamp, secret, signature }: Draft = Object.assign(right, ...drafts);
  const content = typeof rawBody === 'string' || rawBody instanceof Uint8Array ? rawBody : '';
  return {
    rawBody,
    headers: {
      'x-timestamp': timestamp,
      'x-signature':
        signature === 'by the secret'
          ? sign(content, { secret, timestamp: timestamp ?? '' })
          : signature,
    },
  };
}

export function describeOrder(implementation: Implementation): void {
  const verify = sampleVerifier(implementation);

  describe('the order of the checks', () => {
    it.each(faults)('refuses $what with $code', async (fault) => {
      expect((await refusalOf(() => verify(build(fault)))).code).toBe(fault.code);
    });

    it.each(pairs)('finds $earlier.what before $later.what', async ({ earlier, later }) => {
      expect((await refusalOf(() => verify(build(earlier, later)))).code).toBe(earlier.code);
    });

    it('does not run recordSchema before the package has accepted the record', async () => {
      let runs = 0;
      const recordSchema = schemaOf((value) => {
        runs += 1;
        return { value };
      });
      for (const fault of faults) {
        await refusalOf(() => verify(build(fault), { recordSchema }));
      }
      expect(runs).toBe(0);
      await verify(build(), { recordSchema });
      expect(runs).toBe(1);
    });
  });
}
