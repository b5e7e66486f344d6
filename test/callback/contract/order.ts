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
  apply(draft: Draft): void;
}

// In the order in which they must be found.
const faults: Fault[] = [
  {
    what: 'a parsed body',
    code: 'RAW_BODY_REQUIRED',
    part: 'body',
    apply: (draft) => {
      draft.rawBody = sampleRecord();
    },
  },
  {
    what: 'no timestamp',
    code: 'MISSING_TIMESTAMP',
    part: 'timestamp',
    apply: (draft) => {
      draft.timestamp = undefined;
    },
  },
  {
    what: 'no signature',
    code: 'MISSING_SIGNATURE',
    part: 'signature',
    apply: (draft) => {
      draft.signature = undefined;
    },
  },
  {
    what: 'a timestamp that is no number',
    code: 'INVALID_TIMESTAMP',
    part: 'timestamp',
    apply: (draft) => {
      draft.timestamp = '+1';
    },
  },
  {
    what: 'a stale timestamp',
    code: 'TIMESTAMP_OUTSIDE_WINDOW',
    part: 'timestamp',
    apply: (draft) => {
      draft.timestamp = String(NOW_SECONDS - 301);
    },
  },
  {
    what: 'a malformed signature',
    code: 'INVALID_SIGNATURE',
    part: 'signature',
    apply: (draft) => {
      draft.signature = 'sha256=zz';
    },
  },
  {
    what: 'a signature by another secret',
    code: 'SIGNATURE_MISMATCH',
    part: 'signature',
    apply: (draft) => {
      draft.secret = OTHER_SECRET;
    },
  },
  {
    what: 'a body that is no JSON',
    code: 'INVALID_RECORD',
    part: 'body',
    apply: (draft) => {
      draft.rawBody = '{"status":';
    },
  },
  {
    what: 'a body that is not UTF-8',
    code: 'INVALID_RECORD',
    part: 'body',
    apply: (draft) => {
      draft.rawBody = Buffer.from([0x7b, 0xff, 0x7d]);
    },
  },
  {
    what: 'JSON that is no record',
    code: 'INVALID_RECORD',
    part: 'body',
    apply: (draft) => {
      draft.rawBody = '{}';
    },
  },
];

const pairs = faults.flatMap((earlier, index) =>
  faults
    .slice(index + 1)
    .filter(({ part }) => part !== earlier.part)
    .map((later) => ({ earlier, later })),
);

function build(...applied: Fault[]) {
  const draft: Draft = {
    rawBody: JSON.stringify(sampleRecord()),
    timestamp: String(NOW_SECONDS),
    secret: SECRET,
    signature: 'by the secret',
  };
  for (const fault of applied) fault.apply(draft);
  const { rawBody, timestamp, secret, signature } = draft;
  const body = typeof rawBody === 'string' || rawBody instanceof Uint8Array ? rawBody : '';
  return {
    rawBody,
    headers: {
      'x-timestamp': timestamp,
      'x-signature':
        signature === 'by the secret'
          ? sign(body, { secret, timestamp: timestamp ?? '' })
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
      const recordSchema = {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: (value: unknown) => {
            runs += 1;
            return { value };
          },
        },
      };
      for (const fault of faults) {
        await refusalOf(() => verify(build(fault), { recordSchema }));
      }
      expect(runs).toBe(0);
      await verify(build(), { recordSchema });
      expect(runs).toBe(1);
    });

    it('does not read the clock before the headers are complete', async () => {
      let reads = 0;
      const now = () => {
        reads += 1;
        return NOW_SECONDS * 1000;
      };
      await refusalOf(() => verify({ rawBody: '', headers: {} }, { now }));
      expect(reads).toBe(0);
    });
  });
}
