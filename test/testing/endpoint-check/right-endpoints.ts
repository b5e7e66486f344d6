import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { callbackHandler } from '../../../src/node/callback-handler.js';
import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import { memoryStore } from '../../../src/store/memory.js';
import type {
  CheckCallbackEndpointOptions,
  CheckedPayment,
} from '../../../src/testing/endpoint-check/options.js';
import { type Callback, clock, later, Orders, SECRET, Shop } from './shop.js';
import { StrictShop } from './strict-shop.js';

interface RightEndpoint {
  readonly habit: string;
  readonly create: () => {
    readonly listener: RequestListener;
    readonly orders: Orders;
    readonly options?: Partial<CheckCallbackEndpointOptions>;
  };
  readonly options?: Partial<CheckCallbackEndpointOptions>;
}

/** Refuses and accepts as a framework does. */
const answering = (
  habit: string,
  answer: (response: ServerResponse, status: number) => unknown,
): RightEndpoint => ({
  habit,
  create: () =>
    new (class extends Shop {
      protected override answer(response: ServerResponse, status: number): void {
        answer(response, status);
      }
    })(),
});

/** Decides on the order, once for each. */
class OrderShop extends Shop {
  readonly #shipped = new Set<string>();
  protected override act(payment: PaymentStatusRecord): void {
    const { merchantPaymentReference, status } = payment;
    if (status !== 'paid' || this.#shipped.has(merchantPaymentReference)) return;
    this.#shipped.add(merchantPaymentReference);
    this.orders.count(payment);
  }
}

const numbers = ({ orders }: { orders: Orders }) => ({
  countEffects: (payment: CheckedPayment) => orders.countOf(payment),
});

export const rightEndpoints: readonly RightEndpoint[] = [
  {
    habit: 'callbackHandler',
    create: () => {
      const orders = new Orders();
      const listener = callbackHandler({
        signingSecret: SECRET,
        now: () => clock.now(),
        store: memoryStore(),
        onPayment({ payment }, { current }) {
          if (payment.status === 'paid') orders.count(payment);
          if (current) orders.setStatus(payment);
        },
        onRejected: () => undefined,
      });
      return { listener, orders };
    },
  },
  answering('refuses with 400 and JSON, as Flask does', (response, status) =>
    response
      .writeHead(status === 401 ? 400 : status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: status })),
  ),
  answering('refuses with 403, as Spring Security does', (response, status) =>
    response.writeHead(status === 401 ? 403 : status).end(),
  ),
  answering('refuses with 404, to hide that it is there', (response, status) =>
    response.writeHead(status === 401 ? 404 : status).end('404 page not found\n'),
  ),
  answering(
    'answers with text and closes the connection, as http.Error in Go',
    (response, status) => response.writeHead(status, { connection: 'close' }).end(`${status}\n`),
  ),
  answering('answers in chunks, as PHP does', (response, status) => {
    response.writeHead(status);
    response.write('O');
    response.end('K');
  }),
  answering('answers 409 to a copy that it is working on', (response, status) =>
    response.writeHead(status === 503 ? 409 : status).end(),
  ),
  {
    habit: 'hands the work to a queue, as Laravel does',
    create: () =>
      new (class extends Shop {
        protected override perform(payment: PaymentStatusRecord, isOlder: boolean): void {
          void later(30).then(() => super.perform(payment, isOlder));
        }
      })(),
  },
  {
    habit: 'is slow at its first callback alone, as a cold start is',
    create: () =>
      new (class extends Shop {
        #isWarm = false;
        protected override async query(): Promise<void> {
          if (!this.#isWarm) await clock.pause(6_000);
          this.#isWarm = true;
        }
      })(),
  },
  {
    habit: 'takes a signature in capitals too, as hex is',
    create: () =>
      new (class extends Shop {
        protected override isSigned({ headers, ...callback }: Callback): boolean {
          const signature = String(headers['x-signature'] ?? '').toLowerCase();
          return super.isSigned({ ...callback, headers: { ...headers, 'x-signature': signature } });
        }
      })(),
  },
  {
    habit: 'writes each change to a ledger, whose lines of paid are counted',
    create: () => {
      const ledger: PaymentStatusRecord[] = [];
      const shop = new (class extends Shop {
        protected override perform(payment: PaymentStatusRecord): void {
          ledger.push(payment);
        }
      })();
      const countEffects = ({ referenceNumber: wanted }: CheckedPayment) =>
        ledger.filter(
          ({ referenceNumber, status }) => referenceNumber === wanted && status === 'paid',
        ).length;
      return { ...shop, options: { countEffects } };
    },
  },
  {
    habit: 'knows its orders, counted by number',
    create: () => {
      const shop = new StrictShop();
      const { listener, orders } = shop;
      return { listener, orders, options: { ...shop.options, ...numbers(shop) } };
    },
  },
  {
    habit: 'ships an order once, with one order for all payments, counted by payment',
    create: () => {
      const shop = new OrderShop();
      return { ...shop, options: { ...numbers(shop), merchantPaymentReference: 'order-1' } };
    },
  },
  {
    habit: 'answers 404 until the order is stored',
    create: () =>
      new (class extends StrictShop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          return this.isStored(payment) ? super.process(payment, callback) : 404;
        }
      })(),
  },
  {
    habit: 'breaks the connection of what is too large, as nginx does',
    create: () =>
      new (class extends Shop {
        protected override async handle(request: IncomingMessage, response: ServerResponse) {
          if (Number(request.headers['content-length']) > 65_536) request.socket.destroy();
          else await super.handle(request, response);
        }
      })(),
  },
];
