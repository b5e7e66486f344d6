import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import { type Callback, Shop } from './shop.js';
import type { WrongHandler } from './wrong-handler.js';
import { hasty } from './wrong-overtaking.js';
import { ordered, repeated } from './wrong-processing.js';
import { habits } from './wrong-signing.js';
import { surroundings } from './wrong-surroundings.js';
import { careless, inexact, wrongWindows } from './wrong-verification.js';

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
    flaw: 'takes every status for paid',
    fails: ['unknown-status-effect'],
    create: () =>
      new (class extends Shop {
        protected override act(payment: PaymentStatusRecord): void {
          super.act({ ...payment, status: 'paid' });
        }
      })(),
  },
  {
    flaw: 'falls over JSON that is none, and is not there for a moment',
    fails: ['malformed-body'],
    create: () =>
      new (class extends Shop {
        #isDown = false;
        protected override async handle(request: IncomingMessage, response: ServerResponse) {
          if (this.#isDown) {
            this.#isDown = false;
            request.socket.destroy();
            return;
          }
          await super.handle(request, response);
        }
        protected override isAuthentic(callback: Callback): boolean {
          try {
            JSON.parse(callback.body.toString()).status.trim();
          } catch {
            this.#isDown = true;
            throw new Error('uncaught');
          }
          return super.isAuthentic(callback);
        }
      })(),
  },
  {
    flaw: 'has a strict schema',
    fails: ['extra-fields'],
    create: () =>
      new (class extends Shop {
        protected override isValid(payment: PaymentStatusRecord): boolean {
          return Object.keys(payment).length <= 6;
        }
      })(),
  },
  {
    flaw: 'wants every field filled',
    fails: ['missing-fields'],
    create: () =>
      new (class extends Shop {
        protected override isValid(payment: PaymentStatusRecord): boolean {
          return Object.values(payment).every(Boolean);
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
    flaw: 'answers 200, and fails to store the change',
    says: /0 effects for one callback, but 1 was expected .*after the change is stored/,
    fails: ['valid-effect'],
    create: () =>
      new (class extends Shop {
        protected override async process(): Promise<number> {
          void this.query().then(() => {
            // The database is down, and this is not reported.
          });
          return 200;
        }
      })(),
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
    flaw: 'answers 500 to a large body',
    fails: ['large-body'],
    create: answers((response, status) => response.writeHead(status === 413 ? 500 : status).end()),
  },
];

const kinds = [
  careless,
  inexact,
  wrongWindows,
  narrowMinded,
  repeated,
  ordered,
  hasty,
  unpunctual,
  boundless,
  habits,
];

/** One of each kind, and those with which the run soon ends. */
export const usualFlaws = [...kinds.flatMap((kind) => kind.slice(0, 1)), ...surroundings];

export const furtherFlaws = kinds.flatMap((kind) => kind.slice(1));
