import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import http, {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll } from 'vitest';
import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import {
  checkWithin,
  systemClock,
} from '../../../src/testing/endpoint-check/check-callback-endpoint.js';
import type {
  CheckCallbackEndpointOptions,
  CheckClock,
  CheckedPayment,
} from '../../../src/testing/endpoint-check/options.js';
import { ManualClock } from './manual-clock.js';

export const SECRET = 'endpoint-secret-7c19d2';

/** The clock of the shops. */
export let clock: CheckClock = systemClock;

/** Gives the shops of this file a clock that passes without waiting. Its tests can't run side by side. */
export function useManualClock(): void {
  clock = new ManualClock();
  afterAll(() => {
    clock = systemClock;
  });
}

export const nowSeconds = (): number => Math.floor(clock.now() / 1000);

/** Work of the shop after its answer. */
export const later = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => void clock.startTimer(resolve, milliseconds));

/** Checks an endpoint by the clock of the shops, with a large body of little more than they take. */
export const check = (
  url: string | URL,
  options: CheckCallbackEndpointOptions,
  largeBodyBytes = 70_000,
) => checkWithin(url, options, { clock, largeBodyBytes });

const servers: Server[] = [];

// Not after each test: they run side by side.
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Listens on loopback until the tests of the file are over; answers with the URL. */
export async function listen(listener: RequestListener): Promise<string> {
  const server = http.createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`;
}

export interface Callback {
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What a shop remembers, and does, about payments. */
export class Orders {
  readonly #effects = new Map<string, number>();
  readonly #statuses = new Map<string, string>();

  count({ referenceNumber }: PaymentStatusRecord): void {
    this.#effects.set(referenceNumber, (this.#effects.get(referenceNumber) ?? 0) + 1);
  }

  setStatus({ referenceNumber, status }: PaymentStatusRecord): void {
    this.#statuses.set(referenceNumber, status);
  }

  countOf({ referenceNumber }: CheckedPayment): number {
    return this.#effects.get(referenceNumber) ?? 0;
  }

  statusOf({ referenceNumber }: CheckedPayment): string | undefined {
    return this.#statuses.get(referenceNumber);
  }
}

/** A callback endpoint as a careful merchant writes it by hand. The wrong ones differ in one function each. */
export class Shop {
  readonly orders = new Orders();
  readonly processed = new Set<string>();
  readonly running = new Set<string>();
  readonly newest = new Map<string, string>();

  readonly listener: RequestListener = async (request, response) => {
    try {
      await this.handle(request, response);
    } catch {
      if (!response.headersSent) this.answer(response, 500);
    }
  };

  readonly handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> =>
    this.respond(request, response, await this.read(request));

  readonly respond = async (
    { headers }: IncomingMessage,
    response: ServerResponse,
    body: Buffer | undefined,
  ): Promise<void> => {
    if (body === undefined) return this.answer(response, 413);
    const callback = { headers, body };
    if (!this.isAuthentic(callback)) return this.answer(response, 401);
    const payment: PaymentStatusRecord = JSON.parse(body.toString());
    if (!this.isValid(payment)) return this.answer(response, 422);
    this.answer(response, await this.process(payment, callback));
  };

  readonly answer = (response: ServerResponse, status: number): void => {
    response.writeHead(status).end();
  };

  readonly read = async (request: IncomingMessage): Promise<Buffer | undefined> => {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > 65_536) return undefined;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  };

  readonly isAuthentic = (callback: Callback): boolean =>
    this.isFresh(Number(callback.headers['x-timestamp'])) && this.isSigned(callback);

  readonly isFresh = (timestamp: number): boolean => Math.abs(nowSeconds() - timestamp) <= 300;

  readonly isSigned = ({ headers, body }: Callback): boolean => {
    const expected = sign(`${headers['x-timestamp']}.`, body);
    const signature = Buffer.from(String(headers['x-signature'] ?? ''));
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  };

  readonly isValid = ({ referenceNumber, status }: PaymentStatusRecord): boolean =>
    referenceNumber !== '' && status !== '';

  /** The status to answer. */
  readonly process = async (payment: PaymentStatusRecord, callback: Callback): Promise<number> => {
    const change = this.changeOf(payment, callback);
    if (this.processed.has(change)) return 200;
    if (this.running.has(payment.referenceNumber)) return 503;
    this.running.add(payment.referenceNumber);
    try {
      await this.query();
      this.act(payment);
      this.processed.add(change);
    } finally {
      this.running.delete(payment.referenceNumber);
    }
    return 200;
  };

  /** What makes two callbacks the same. */
  readonly changeOf = (payment: PaymentStatusRecord, _callback: Callback): string =>
    JSON.stringify([payment.referenceNumber, payment.status, payment.updatedAt]);

  readonly isOlder = ({ referenceNumber, updatedAt }: PaymentStatusRecord): boolean =>
    Date.parse(updatedAt) < Date.parse(this.newest.get(referenceNumber) ?? '');

  readonly act = (payment: PaymentStatusRecord): void => {
    const isOlder = this.isOlder(payment);
    if (!isOlder) this.newest.set(payment.referenceNumber, payment.updatedAt);
    this.perform(payment, isOlder);
  };

  /** Ships what is paid, even by an older change, which leaves the status alone. */
  readonly perform = (payment: PaymentStatusRecord, isOlder: boolean): void => {
    if (payment.status === 'paid') this.orders.count(payment);
    if (!isOlder) this.orders.setStatus(payment);
  };

  /** The database takes its time. */
  readonly query = (): Promise<void> => nextTurn();
}

/** Some functions of a shop, in place of the careful ones, which they may call. */
export type Change = (careful: Shop) => Partial<Shop>;

export function changed(change: Change): Shop {
  const shop = new Shop();
  return Object.assign(shop, change({ ...shop }));
}

/** A shop that takes payments of orders that are stored. */
export function strict(
  change: (careful: Shop, isStored: (payment: PaymentStatusRecord) => boolean) => Partial<Shop>,
) {
  const stored = new Set<string>();
  const isStored = ({ merchantPaymentReference }: PaymentStatusRecord) =>
    stored.has(merchantPaymentReference);
  const { listener, orders } = changed((shop) => {
    const process: Shop['process'] = async (payment, callback) =>
      isStored(payment) ? shop.process(payment, callback) : 503;
    return { process, ...change({ ...shop, process }, isStored) };
  });
  const merchantPaymentReference = () => {
    const reference = `order-${stored.size + 1}`;
    stored.add(reference);
    return reference;
  };
  return { listener, orders, options: { merchantPaymentReference, overtaking: true } };
}

/** What a probe of these orders returns. */
export const effectsOf = (orders: Orders) => (payment: CheckedPayment) => ({
  effects: orders.countOf(payment),
  status: orders.statusOf(payment),
});

/** The digest in hex, as bytes. */
export function sign(prefix: string, body: string | Buffer): Buffer {
  return Buffer.from(createHmac('sha256', SECRET).update(prefix).update(body).digest('hex'));
}
