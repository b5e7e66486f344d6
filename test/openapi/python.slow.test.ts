import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findPython } from '../fuzz/callback/oracle.js';

// The verifier in Python, of which a guide shows a part, is security code that people copy: it is run on the vectors.

interface Vector {
  readonly name: string;
  readonly secretHex: string;
  readonly timestamp: string;
  readonly bodyHex: string;
  readonly hex: string;
}

const snippet = readFileSync('examples/openapi/payments.py', 'utf8');
const vectors: readonly Vector[] = JSON.parse(readFileSync('test/vectors/signatures.json', 'utf8'));
// Seconds, and a secret that is text: what the snippet is for.
const usable = vectors.filter(
  ({ timestamp, secretHex }) =>
    /^\d{1,12}$/.test(timestamp) && Buffer.from(secretHex, 'hex').every((byte) => byte < 0x80),
);

const program = `${snippet}
import json, sys
for case in json.load(sys.stdin):
    time.time = lambda: case["now"]
    print(is_genuine(case["headers"], bytes.fromhex(case["bodyHex"]), case["secret"]))
`;

function judge(cases: readonly object[]): string[] {
  return execFileSync('python3', ['-c', program], { input: JSON.stringify(cases) })
    .toString()
    .trim()
    .split('\n');
}

const python = findPython();
if (python === undefined) console.log('No python3 was found: the Python of the guide is not run.');

it.runIf(python !== undefined || process.env['CI'] === 'true')(
  'the Python of the guide accepts what is genuine, and nothing else',
  () => {
    const genuine = usable.map(({ secretHex, timestamp, bodyHex, hex }) => ({
      secret: Buffer.from(secretHex, 'hex').toString(),
      now: Number(timestamp) + 300,
      headers: { 'X-Timestamp': timestamp, 'X-Signature': hex },
      bodyHex,
    }));
    expect(genuine.length).toBeGreaterThan(3);
    expect(judge(genuine)).toEqual(genuine.map(() => 'True'));

    const [first] = genuine as [(typeof genuine)[number]];
    const { headers } = first;
    const forged = [
      { ...first, bodyHex: `${first.bodyHex}20` },
      { ...first, secret: `${first.secret}x` },
      { ...first, now: first.now + 1 },
      { ...first, headers: {} },
      { ...first, headers: { ...headers, 'X-Timestamp': `${headers['X-Timestamp']} ` } },
      { ...first, headers: { ...headers, 'X-Timestamp': '١٧٦٩٨٦٠٨٠٥' } },
      { ...first, headers: { ...headers, 'X-Signature': '' } },
      { ...first, headers: { ...headers, 'X-Signature': '\ud800' } },
      { ...first, headers: { ...headers, 'X-Signature': headers['X-Signature'].slice(0, -1) } },
    ];
    expect(judge(forged)).toEqual(forged.map(() => 'False'));
  },
);
