import type { RequestListener, ServerResponse } from 'node:http';
import { callbackHandler } from '../../../src/node/callback-handler.js';
import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import { memoryStore } from '../../../src/store/memory.js';
import type {
  CheckCallbackEndpointOptions,
  CheckedPayment,
} from '../../../src/testing/endpoint-check/options.js';
import { type Change, changed, clock, later, nowSeconds, Orders, SECRET, strict } from './shop.js';

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
  create: () => changed(() => ({ answer: (response, status) => void answer(response, status) })),
});

const changing = (habit: string, change: Change): RightEndpoint => ({
  habit,
  create: () => changed(change),
});

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
  {
    ...changing('allows two seconds', () => ({
      isFresh: (timestamp) => Math.abs(timestamp - nowSeconds()) <= 2,
    })),
    options: { toleranceSeconds: 2 },
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
  changing('hands the work to a queue, as Laravel does', (shop) => ({
    perform: (payment, isOlder) => void later(30).then(() => shop.perform(payment, isOlder)),
  })),
  changing('is slow at its first callback alone, as a cold start is', () => {
    let isWarm = false;
    return {
      async query() {
        if (!isWarm) await clock.pause(6_000);
        isWarm = true;
      },
    };
  }),
  changing('takes a signature in capitals too, as hex is', (shop) => ({
    isSigned({ headers, body }) {
      const signature = String(headers['x-signature'] ?? '').toLowerCase();
      return shop.isSigned({ body, headers: { ...headers, 'x-signature': signature } });
    },
  })),
  {
    habit: 'writes each change to a ledger, whose lines of paid are counted',
    create: () => {
      const ledger: PaymentStatusRecord[] = [];
      const { listener, orders } = changed(() => ({
        perform: (payment) => void ledger.push(payment),
      }));
      const countEffects = ({ referenceNumber: wanted }: CheckedPayment) =>
        ledger.filter((one) => one.referenceNumber === wanted && one.status === 'paid').length;
      return { listener, orders, options: { countEffects } };
    },
  },
  {
    habit: 'knows its orders, counted by number',
    create: () => {
      const { options, ...shop } = strict(() => ({}));
      return { ...shop, options: { ...options, ...numbers(shop) } };
    },
  },
  {
    habit: 'ships an order once, with one order for all payments, counted by payment',
    create: () => {
      const shipped = new Set<string>();
      const shop = changed(({ orders }) => ({
        act(payment) {
          const { merchantPaymentReference: order, status } = payment;
          if (status === 'paid' && !shipped.has(order)) orders.count(payment);
          if (status === 'paid') shipped.add(order);
        },
      }));
      return { ...shop, options: { ...numbers(shop), merchantPaymentReference: 'order-1' } };
    },
  },
  {
    habit: 'answers 404 until the order is stored',
    create: () =>
      strict((shop, isStored) => ({
        process: async (payment, callback) =>
          isStored(payment) ? shop.process(payment, callback) : 404,
      })),
  },
  changing('breaks the connection of what is too large, as nginx does', (shop) => ({
    async handle(request, response) {
      if (Number(request.headers['content-length']) > 65_536) request.socket.destroy();
      else await shop.handle(request, response);
    },
  })),
];
