import { timingSafeEqual } from 'node:crypto';
import express from 'express';
import { nowSeconds, Shop, sign } from './shop.js';
import { flawed, type WrongHandler } from './wrong-handler.js';

/** Express as its first page shows it: the body comes parsed. */
function createExpressShop() {
  const shop = new Shop();
  const listener = express()
    .use(express.json())
    .post('/callbacks', async ({ body: parsed, headers }, response) => {
      const callback = { headers, body: Buffer.from(JSON.stringify(parsed)) };
      if (!shop.isAuthentic(callback)) return void response.sendStatus(401);
      response.sendStatus(await shop.process(parsed, callback));
    });
  return { orders: shop.orders, listener };
}

export const careless: readonly WrongHandler[] = [
  flawed('verifies nothing', 'wrong-secret', () => ({ isAuthentic: () => true })),
  {
    flaw: 'verifies the body that express.json() parsed, written again',
    fails: ['raw-bytes'],
    create: createExpressShop,
  },
  flawed('accepts what has no signature', 'missing-signature', (shop) => ({
    isSigned: (callback) => !callback.headers['x-signature'] || shop.isSigned(callback),
  })),
  flawed(
    'throws on signatures of another length',
    ['missing-signature', 'altered-signature'],
    () => ({
      isSigned({ headers, body }) {
        const expected = sign(`${headers['x-timestamp']}.`, body);
        return timingSafeEqual(Buffer.from(headers['x-signature'] as string), expected);
      },
    }),
  ),
  flawed('decodes the body as latin1', 'extra-fields', (shop) => ({
    isSigned: ({ headers, body }) =>
      shop.isSigned({ headers, body: Buffer.from(body.toString('latin1')) }),
  })),
];

const comparing = (
  flaw: string,
  isRight: (signature: string, expected: string) => boolean,
): WrongHandler =>
  flawed(flaw, 'altered-signature', () => ({
    isSigned({ headers, body }) {
      const signature = String(headers['x-signature'] ?? '');
      const expected = sign(`${headers['x-timestamp']}.`, body).toString();
      return signature !== '' && isRight(signature, expected);
    },
  }));

export const inexact: readonly WrongHandler[] = [
  comparing('takes the beginning of the signature for all of it', (signature, expected) =>
    expected.startsWith(signature),
  ),
  comparing('takes what begins with the signature for it', (signature, expected) =>
    signature.startsWith(expected),
  ),
  comparing(
    'compares the first eight characters of the signature',
    (signature, expected) =>
      signature.length === expected.length && signature.slice(0, 8) === expected.slice(0, 8),
  ),
  comparing(
    'compares the last eight characters of the signature',
    (signature, expected) =>
      signature.length === expected.length && signature.slice(-8) === expected.slice(-8),
  ),
  comparing(
    'takes half a signature for all of it',
    (signature, expected) => signature.length >= 32 && expected.startsWith(signature),
  ),
  comparing('compares the bytes that can be decoded, even if none', (signature, expected) => {
    const bytes = Buffer.from(signature, 'hex').toString('hex');
    return bytes === '' || bytes === expected;
  }),
  comparing('compares as many characters as have come', (signature, expected) =>
    [...signature].every((character, index) => character === (expected[index] ?? character)),
  ),
];

const windows: readonly (readonly [
  string,
  WrongHandler['fails'],
  (aheadSeconds: number) => boolean,
])[] = [
  ['takes no notice of the timestamp', ['stale-timestamp', 'future-timestamp'], () => true],
  ['looks for old timestamps only', ['future-timestamp'], (ahead) => ahead >= -300],
  ['looks for timestamps of the future only', ['stale-timestamp'], (ahead) => ahead <= 300],
  [
    'allows ten times as much',
    ['stale-timestamp', 'future-timestamp'],
    (ahead) => Math.abs(ahead) <= 3000,
  ],
  [
    'allows ten seconds more',
    ['stale-timestamp', 'future-timestamp'],
    (ahead) => Math.abs(ahead) <= 310,
  ],
  ['allows ten seconds less', ['delayed-callback'], (ahead) => Math.abs(ahead) <= 290],
  ['allows thirty seconds', ['delayed-callback'], (ahead) => Math.abs(ahead) <= 30],
];

export const wrongWindows: readonly WrongHandler[] = windows.map(([flaw, fails, isFresh]) =>
  flawed(flaw, fails, () => ({ isFresh: (timestamp) => isFresh(timestamp - nowSeconds()) })),
);
