import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import type { CheckCallbackEndpointOptions } from '../../../src/testing/endpoint-check/options.js';
import type { EndpointCheckId } from '../../../src/testing/endpoint-check/report.js';
import { type Callback, type Orders, Shop, sign } from './shop.js';

interface WrongHandler {
  readonly flaw: string;
  /** Exactly the checks that fail. */
  readonly fails: readonly EndpointCheckId[];
  readonly create: () => { readonly listener: RequestListener; readonly orders: Orders };
  readonly options?: Partial<CheckCallbackEndpointOptions>;
}

const FORGERIES: readonly EndpointCheckId[] = [
  'tampered-body',
  'other-signature',
  'wrong-secret',
  'missing-signature',
  'missing-timestamp',
  'empty-signature',
  'changed-timestamp',
  'parsed-body',
];

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

const careless: readonly WrongHandler[] = [
  {
    flaw: 'verifies nothing',
    fails: [...FORGERIES, 'stale-timestamp', 'future-timestamp', 'timestamp-unit'],
    create: () =>
      new (class extends Shop {
        protected override isAuthentic(): boolean {
          return true;
        }
      })(),
  },
  {
    flaw: 'verifies the body that express.json() parsed, written again',
    fails: ['parsed-body', 'raw-bytes'],
    create: () => new ExpressShop(),
  },
  {
    flaw: 'accepts what has no signature',
    fails: ['missing-signature', 'empty-signature'],
    create: () =>
      new (class extends Shop {
        protected override isSigned(callback: Callback): boolean {
          return !callback.headers['x-signature'] || super.isSigned(callback);
        }
      })(),
  },
  {
    flaw: 'throws on signatures of another length',
    fails: ['missing-signature', 'empty-signature'],
    create: () =>
      new (class extends Shop {
        protected override isSigned({ headers, body }: Callback): boolean {
          const expected = sign(`${headers['x-timestamp']}.`, body);
          return timingSafeEqual(Buffer.from(headers['x-signature'] as string), expected);
        }
      })(),
  },
  {
    flaw: 'falls over a header that is missing',
    fails: ['missing-signature', 'missing-timestamp'],
    create: () =>
      new (class extends Shop {
        protected override isAuthentic(callback: Callback): boolean {
          const { headers } = callback;
          for (const name of ['x-timestamp', 'x-signature']) (headers[name] as string).trim();
          return super.isAuthentic(callback);
        }
      })(),
  },
  {
    flaw: 'records the order and verifies afterwards',
    fails: ['refused-effect'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const status = await super.process(payment, callback);
          return super.isAuthentic(callback) ? status : 401;
        }
        protected override isAuthentic(): boolean {
          return true;
        }
      })(),
  },
  {
    flaw: 'decodes the body as latin1',
    fails: ['unicode'],
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
  {
    flaw: 'looks for headers in one spelling',
    fails: ['header-case'],
    create: () =>
      new (class extends Shop {
        protected override isAuthentic(callback: Callback): boolean {
          return !callback.rawHeaders.includes('X-TIMESTAMP') && super.isAuthentic(callback);
        }
      })(),
  },
];

const window = (isFresh: (aheadSeconds: number) => boolean) => () =>
  new (class extends Shop {
    protected override isFresh(timestamp: number): boolean {
      return isFresh(timestamp - Math.floor(Date.now() / 1000));
    }
  })();

const wrongWindows: readonly WrongHandler[] = [
  {
    flaw: 'takes no notice of the timestamp',
    fails: ['stale-timestamp', 'future-timestamp', 'timestamp-unit'],
    create: window(() => true),
  },
  {
    flaw: 'looks for old timestamps only',
    fails: ['future-timestamp', 'timestamp-unit'],
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
    flaw: 'allows thirty seconds',
    fails: ['delayed-callback'],
    create: window((ahead) => Math.abs(ahead) <= 30),
  },
  {
    flaw: 'guesses the unit of the timestamp',
    fails: ['timestamp-unit'],
    create: () =>
      new (class extends Shop {
        protected override isFresh(timestamp: number): boolean {
          return super.isFresh(timestamp > 1e11 ? Math.floor(timestamp / 1000) : timestamp);
        }
      })(),
  },
];

const narrowMinded: readonly WrongHandler[] = [
  {
    flaw: 'throws on a status that it does not know',
    fails: ['unknown-status'],
    create: () =>
      new (class extends Shop {
        protected override isValid({ status }: PaymentStatusRecord): boolean {
          if (status === 'paid') return true;
          throw new Error(`unhandled status ${status}`);
        }
      })(),
  },
  {
    flaw: 'has a strict schema',
    fails: ['extra-fields'],
    create: () =>
      new (class extends Shop {
        protected override isValid(payment: PaymentStatusRecord): boolean {
          return Object.keys(payment).length === 6;
        }
      })(),
  },
  {
    flaw: 'wants every field filled',
    fails: ['empty-provider-reference'],
    create: () =>
      new (class extends Shop {
        protected override isValid(payment: PaymentStatusRecord): boolean {
          return Object.values(payment).every(Boolean);
        }
      })(),
  },
];

const repeated: readonly WrongHandler[] = [
  {
    flaw: 'acts on every delivery',
    fails: ['duplicate-effect', 'simultaneous-effect', 'resigned-retry-effect'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord) {
          await this.query();
          if (!this.isOlder(payment)) this.act(payment);
          return 200;
        }
      })(),
  },
  {
    flaw: 'acts on duplicates a moment after the answer',
    fails: ['duplicate-effect', 'simultaneous-effect', 'resigned-retry-effect'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const isKnown = this.processed.has(this.changeOf(payment, callback));
          if (isKnown) setTimeout(() => this.act(payment), 20);
          return super.process(payment, callback);
        }
      })(),
  },
  {
    flaw: 'knows duplicates by their signature',
    fails: ['resigned-retry-effect'],
    create: () =>
      new (class extends Shop {
        protected override changeOf(_: PaymentStatusRecord, { headers }: Callback): string {
          return String(headers['x-signature']);
        }
      })(),
  },
  {
    flaw: 'knows duplicates by their payment',
    fails: ['second-change-effect'],
    create: () =>
      new (class extends Shop {
        protected override changeOf({ referenceNumber }: PaymentStatusRecord): string {
          return referenceNumber;
        }
      })(),
  },
  {
    flaw: 'looks first and records afterwards',
    fails: ['simultaneous-effect'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const change = this.changeOf(payment, callback);
          if (this.processed.has(change)) return 200;
          await this.query();
          if (!this.isOlder(payment)) this.act(payment);
          this.processed.add(change);
          return 200;
        }
      })(),
  },
  {
    flaw: 'answers 400 to a duplicate',
    fails: ['duplicate', 'simultaneous', 'resigned-retry'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const { referenceNumber } = payment;
          const isKnown = this.processed.has(this.changeOf(payment, callback));
          if (isKnown || this.running.has(referenceNumber)) return 400;
          return super.process(payment, callback);
        }
      })(),
  },
  {
    flaw: 'answers 400 to a change that it is working on',
    fails: ['simultaneous'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const status = await super.process(payment, callback);
          return status === 503 ? 400 : status;
        }
      })(),
  },
  {
    flaw: 'acts twice on each change',
    fails: ['valid-effect', 'duplicate-effect', 'simultaneous-effect', 'resigned-retry-effect'],
    create: () =>
      new (class extends Shop {
        protected override act(payment: PaymentStatusRecord): void {
          super.act(payment);
          super.act(payment);
        }
      })(),
  },
  {
    flaw: 'never frees what was asked for twice at once',
    fails: ['simultaneous'],
    create: () =>
      new (class extends Shop {
        readonly #locked = new Set<string>();
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const { referenceNumber } = payment;
          if (this.running.has(referenceNumber)) this.#locked.add(referenceNumber);
          return this.#locked.has(referenceNumber) ? 503 : super.process(payment, callback);
        }
      })(),
  },
  {
    flaw: 'answers 409 to every callback of a payment but the first',
    fails: ['duplicate', 'resigned-retry', 'second-change', 'second-change-effect', 'older-change'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          if (this.orders.countOf(payment) > 0) return this.#isFirst(callback) ? 200 : 409;
          return super.process(payment, callback);
        }
        // Copies of the very first are let through, or none of them would ever be acknowledged.
        readonly #seen = new Map<string, number>();
        #isFirst({ headers }: Callback): boolean {
          const times = (this.#seen.get(String(headers['x-signature'])) ?? 0) + 1;
          this.#seen.set(String(headers['x-signature']), times);
          return times > 1;
        }
      })(),
  },
];

const ordered: readonly WrongHandler[] = [
  {
    flaw: 'lets the last write win',
    fails: ['older-change-effect'],
    create: () =>
      new (class extends Shop {
        protected override isOlder(): boolean {
          return false;
        }
      })(),
  },
  {
    flaw: 'ships on paid alone, but lets the last status win',
    fails: ['older-change-effect'],
    create: () =>
      new (class extends Shop {
        protected override isOlder(): boolean {
          return false;
        }
        protected override act(payment: PaymentStatusRecord): void {
          if (payment.status === 'paid') super.act(payment);
          else this.orders.setStatus(payment);
        }
      })(),
  },
  {
    flaw: 'refuses an older change',
    fails: ['older-change'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          return this.isOlder(payment) ? 422 : super.process(payment, callback);
        }
      })(),
  },
];

const answers = (answer: (response: ServerResponse, status: number) => unknown) => () =>
  new (class extends Shop {
    protected override answer(response: ServerResponse, status: number): void {
      answer(response, status);
    }
  })();

const unpunctual: readonly WrongHandler[] = [
  {
    flaw: 'answers 204',
    fails: ['status-200'],
    create: answers((response, status) => response.writeHead(status === 200 ? 204 : status).end()),
  },
  {
    flaw: 'redirects to a page',
    fails: ['valid-accepted'],
    create: answers((response) => response.writeHead(302, { location: '/thanks' }).end()),
  },
  {
    flaw: 'does slow work before it answers',
    fails: ['acknowledged-in-time'],
    create: () =>
      new (class extends Shop {
        protected override async query(): Promise<void> {
          await sleep(40);
        }
      })(),
    options: { acknowledgeWithinMs: 20 },
  },
  {
    flaw: 'answers 200, and fails to store the change',
    fails: [
      'valid-effect',
      'duplicate-effect',
      'simultaneous-effect',
      'resigned-retry-effect',
      'second-change-effect',
    ],
    create: () =>
      new (class extends Shop {
        protected override async process(): Promise<number> {
          void this.query().then(() => {
            // The database is down, and nobody is told.
          });
          return 200;
        }
      })(),
    options: { effectsWithinMs: 60 },
  },
];

const collect = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const boundless: readonly WrongHandler[] = [
  {
    flaw: 'reads a body of any size',
    fails: ['large-body'],
    create: () =>
      new (class extends Shop {
        protected override read(request: IncomingMessage): Promise<Buffer> {
          return collect(request);
        }
      })(),
  },
  {
    flaw: 'does not recover from a large body',
    fails: ['after-large-body'],
    create: () =>
      new (class extends Shop {
        #exhausted = false;
        protected override async read(request: IncomingMessage): Promise<Buffer | undefined> {
          if (this.#exhausted) throw new RangeError('Array buffer allocation failed');
          const body = await super.read(request);
          this.#exhausted = body === undefined;
          return body;
        }
      })(),
  },
  {
    flaw: 'answers 500 to a large body',
    fails: ['large-body'],
    create: answers((response, status) => response.writeHead(status === 413 ? 500 : status).end()),
  },
];

export const wrongHandlers: readonly WrongHandler[] = [
  ...careless,
  ...wrongWindows,
  ...narrowMinded,
  ...repeated,
  ...ordered,
  ...unpunctual,
  ...boundless,
];
