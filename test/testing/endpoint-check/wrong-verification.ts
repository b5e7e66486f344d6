import { timingSafeEqual } from 'node:crypto';
import type { RequestListener } from 'node:http';
import express from 'express';
import { type Callback, nowSeconds, Shop, sign } from './shop.js';
import type { WrongHandler } from './wrong-handler.js';

/** Express as its first page shows it: the body comes parsed. */
class ExpressShop extends Shop {
  override readonly listener: RequestListener = express()
    .use(express.json())
    .post('/callbacks', async (request, response) => {
      const body = Buffer.from(JSON.stringify(request.body));
      const { headers, rawHeaders } = request;
      const callback = { headers, rawHeaders, body };
      if (!this.isAuthentic(callback)) return void response.sendStatus(401);
      response.sendStatus(await this.process(request.body, callback));
    });
}

export const careless: readonly WrongHandler[] = [
  {
    flaw: 'verifies nothing',
    fails: ['wrong-secret'],
    create: () =>
      new (class extends Shop {
        protected override isAuthentic(): boolean {
          return true;
        }
      })(),
  },
  {
    flaw: 'verifies the body that express.json() parsed, written again',
    fails: ['raw-bytes'],
    create: () => new ExpressShop(),
  },
  {
    flaw: 'accepts what has no signature',
    fails: ['missing-signature'],
    create: () =>
      new (class extends Shop {
        protected override isSigned(callback: Callback): boolean {
          return !callback.headers['x-signature'] || super.isSigned(callback);
        }
      })(),
  },
  {
    flaw: 'throws on signatures of another length',
    fails: ['missing-signature', 'altered-signature'],
    create: () =>
      new (class extends Shop {
        protected override isSigned({ headers, body }: Callback): boolean {
          const expected = sign(`${headers['x-timestamp']}.`, body);
          return timingSafeEqual(Buffer.from(headers['x-signature'] as string), expected);
        }
      })(),
  },
  {
    flaw: 'decodes the body as latin1',
    fails: ['extra-fields'],
    create: () =>
      new (class extends Shop {
        protected override isSigned(callback: Callback): boolean {
          return super.isSigned({
            ...callback,
            body: Buffer.from(callback.body.toString('latin1')),
          });
        }
      })(),
  },
];

const comparing = (isRight: (signature: string, expected: string) => boolean) => () =>
  new (class extends Shop {
    protected override isSigned({ headers, body }: Callback): boolean {
      const signature = String(headers['x-signature'] ?? '');
      const expected = sign(`${headers['x-timestamp']}.`, body).toString();
      return signature !== '' && isRight(signature, expected);
    }
  })();

export const inexact: readonly WrongHandler[] = [
  {
    flaw: 'takes the beginning of the signature for all of it',
    fails: ['altered-signature'],
    create: comparing((signature, expected) => expected.startsWith(signature)),
  },
  {
    flaw: 'takes what begins with the signature for it',
    fails: ['altered-signature'],
    create: comparing((signature, expected) => signature.startsWith(expected)),
  },
  {
    flaw: 'compares the first eight characters of the signature',
    fails: ['altered-signature'],
    create: comparing(
      (signature, expected) =>
        signature.length === expected.length && signature.slice(0, 8) === expected.slice(0, 8),
    ),
  },
  {
    flaw: 'compares the last eight characters of the signature',
    fails: ['altered-signature'],
    create: comparing(
      (signature, expected) =>
        signature.length === expected.length && signature.slice(-8) === expected.slice(-8),
    ),
  },
  {
    flaw: 'takes half a signature for all of it',
    fails: ['altered-signature'],
    create: comparing(
      (signature, expected) => signature.length >= 32 && expected.startsWith(signature),
    ),
  },
  {
    flaw: 'compares the bytes of the signature that can be decoded, even when there are none',
    fails: ['altered-signature'],
    create: comparing((signature, expected) => {
      const bytes = Buffer.from(signature, 'hex').toString('hex');
      return bytes === '' || bytes === expected;
    }),
  },
  {
    flaw: 'compares as many characters as have come',
    fails: ['altered-signature'],
    create: comparing((signature, expected) =>
      [...signature].every((character, index) => character === (expected[index] ?? character)),
    ),
  },
];

const window = (isFresh: (aheadSeconds: number) => boolean) => () =>
  new (class extends Shop {
    protected override isFresh(timestamp: number): boolean {
      return isFresh(timestamp - nowSeconds());
    }
  })();

export const wrongWindows: readonly WrongHandler[] = [
  {
    flaw: 'takes no notice of the timestamp',
    fails: ['stale-timestamp', 'future-timestamp'],
    create: window(() => true),
  },
  {
    flaw: 'looks for old timestamps only',
    fails: ['future-timestamp'],
    create: window((ahead) => ahead >= -300),
  },
  {
    flaw: 'looks for timestamps of the future only',
    fails: ['stale-timestamp'],
    create: window((ahead) => ahead <= 300),
  },
  {
    flaw: 'allows ten times as much',
    fails: ['stale-timestamp', 'future-timestamp'],
    create: window((ahead) => Math.abs(ahead) <= 3000),
  },
  {
    flaw: 'allows ten seconds more',
    fails: ['stale-timestamp', 'future-timestamp'],
    create: window((ahead) => Math.abs(ahead) <= 310),
  },
  {
    flaw: 'allows ten seconds less',
    fails: ['delayed-callback'],
    create: window((ahead) => Math.abs(ahead) <= 290),
  },
  {
    flaw: 'allows thirty seconds',
    fails: ['delayed-callback'],
    create: window((ahead) => Math.abs(ahead) <= 30),
  },
];
