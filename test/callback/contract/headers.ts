import { describe, expect, it } from 'vitest';
import { NOW_SECONDS, optionErrorOf, refusalOf, sampleRequest, sign } from '../sample-callback.js';
import { type Implementation, sampleVerifier } from './implementation.js';

const { rawBody } = sampleRequest();
const timestamp = String(NOW_SECONDS);
const signature = sign(rawBody);

const named = { 'x-timestamp': timestamp, 'x-signature': signature };

const shapes: [string, () => unknown][] = [
  ["Node's req.headers", () => ({ host: 'x', ...named })],
  [
    "Node's req.headersDistinct",
    () => ({ 'x-timestamp': [timestamp], 'x-signature': [signature] }),
  ],
  ['a Fetch Headers', () => new Headers({ 'X-Timestamp': timestamp, 'X-Signature': signature })],
  [
    'pairs',
    () => [
      ['x-timestamp', timestamp],
      ['X-SIGNATURE', signature],
      ['accept', '*/*'],
    ],
  ],
  ['Lambda headers in mixed case', () => ({ 'X-Timestamp': timestamp, 'x-SIGNATURE': signature })],
  [
    'repeated names without a value',
    () => ({
      'X-Timestamp': timestamp,
      'x-timestamp': undefined,
      'x-signature': null,
      'X-Signature': signature,
      'X-SIGNATURE': [],
    }),
  ],
  ['an object with a method get', () => ({ get: () => undefined, ...named })],
];

function appended(name: string, value: string) {
  const headers = new Headers(named);
  headers.append(name, value);
  return headers;
}

/** Every shape in which `name` can come twice; the other header is right. */
function duplicates(
  name: string,
  value: string,
  other: Record<string, string>,
): [string, unknown][] {
  const upper = name.toUpperCase();
  return [
    ['in two cases', { ...other, [name]: value, [upper]: value }],
    ['in a list of two', { ...other, [name]: [value, value] }],
    ['as two pairs', [...Object.entries(other), [name, value], [upper, value]]],
    ['joined by a Fetch Headers', appended(name, value)],
    ['the first one empty', { ...other, [name]: '', [upper]: value }],
  ];
}

const wrongCollections: [string, unknown, string][] = [
  [
    'null',
    null,
    'must be the headers of the request (an object, a Headers or pairs); received null',
  ],
  ['a string', 'x-timestamp: 1', 'received a string of 14 characters'],
  [
    "Node's rawHeaders",
    ['X-Timestamp', timestamp, 'X-Signature', signature],
    "instead of Node's rawHeaders pass req.headers",
  ],
];

export function describeHeaders(implementation: Implementation): void {
  const verify = sampleVerifier(implementation);

  describe('headers', () => {
    it.each(shapes)('reads %s', async (_what, makeHeaders) => {
      expect((await verify({ rawBody, headers: makeHeaders() })).secretIndex).toBe(0);
    });

    describe.each([
      {
        name: 'x-timestamp',
        code: 'TIMESTAMP',
        own: timestamp,
        other: { 'x-signature': signature },
      },
      {
        name: 'x-signature',
        code: 'SIGNATURE',
        own: signature,
        other: { 'x-timestamp': timestamp },
      },
    ])('$name', ({ name, code, own, other }) => {
      it.each(duplicates(name, own, other))(
        'is refused when it comes twice, %s',
        async (_what, headers) => {
          const error = await refusalOf(() => verify({ rawBody, headers }));
          expect(error.code).toBe(`INVALID_${code}`);
        },
      );

      it.each([
        ['absent', {}],
        ['undefined', { [name]: undefined }],
        ['empty', { [name]: '' }],
        ['an empty list', { [name]: [] }],
      ])('is missing when it is %s', async (_what, fields) => {
        const all = { ...other, ...fields };
        const collections = [all, Object.entries(all), new Headers(Object.entries(other))];
        for (const headers of collections) {
          const error = await refusalOf(() => verify({ rawBody, headers }));
          expect(error.code).toBe(`MISSING_${code}`);
          expect(error.message).toMatch(
            /^The X-(Timestamp|Signature) header is missing; pass the headers of the request as received/,
          );
        }
      });

      it.each([
        ['a number', 7],
        ['a list of a number', [7]],
      ])('is refused when its value is %s', async (_what, value) => {
        const headers = { ...other, [name]: value };
        const error = await refusalOf(() => verify({ rawBody, headers }));
        expect(error.code).toBe(`INVALID_${code}`);
        expect(error.message).toContain('must be a string; received');
      });
    });

    it.each(wrongCollections)('refuses %s with a remedy', async (_what, headers, message) => {
      const error = await optionErrorOf(() => verify({ rawBody, headers }));
      expect(error).toMatchObject({ code: 'INVALID_OPTION', option: 'headers' });
      expect(error.message).toContain(message);
    });
  });
}
