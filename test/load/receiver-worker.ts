import diagnosticsChannel from 'node:diagnostics_channel';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { callbackHandler } from '../../src/node/callback-handler.js';
import type { PaymentStatusRecord } from '../../src/protocol/payment.js';
import type { CallbackTrace } from '../../src/receiver/observation.js';
import { memoryStore } from '../../src/store/memory.js';
import { seededRandom } from '../chaos/seeded-random.js';
import { Gauge, type Holdings, listAlarms } from './measure.js';
import { serveCalls } from './worker-calls.js';

// The merchant's process: an endpoint for callbacks that works as merchants' do, and fails as they do.

export interface ReceiverStart {
  readonly seed: number;
  readonly signingSecret: string;
  /** Fewer than the changes of the warm-up, so that the store is full when it ends. */
  readonly storeEntries: number;
}

/** What the merchant's function completed, in the order in which it did. */
export interface Effect {
  readonly referenceNumber: string;
  readonly merchantPaymentReference: string;
  readonly status: string;
  readonly updatedAt: string;
  /** What onPayment was told. */
  readonly current: boolean;
}

export interface ReceiverAccount {
  readonly effects: readonly Effect[];
  /** Replies that left, by status. */
  readonly replies: Readonly<Record<string, number>>;
  /** What became of the callbacks, as the receiver tells it. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** What the merchant's function and connection did wrong, on purpose. */
  readonly failures: Readonly<Record<string, number>>;
  /** What `onRejected` and `onError` received. */
  readonly told: Readonly<Record<string, number>>;
}

const FAILURE = 'the shop is out of order';
const OFTEN = 0.03;

type Count = keyof Omit<ReceiverAccount, 'effects'>;

class Shop {
  readonly #random: () => number;
  readonly #handler: ReturnType<typeof callbackHandler>;
  #effects: Effect[] = [];
  #counts = new Map<Count, Map<string, number>>();

  constructor({ seed, signingSecret, storeEntries }: ReceiverStart) {
    this.#random = seededRandom(seed);
    this.#handler = callbackHandler({
      signingSecret,
      store: memoryStore({ maxEntries: storeEntries }),
      // Only what is planned fails, however busy the machine is.
      onPaymentTimeoutMs: 600_000,
      onPayment: ({ payment }, context) => this.#ship(payment, context),
      onError: (error) => this.#count('told', describe(error)),
      onRejected: ({ code }) => this.#count('told', code),
    });
    diagnosticsChannel
      .tracingChannel<unknown, CallbackTrace>('merchant-payments:callback')
      .asyncEnd.subscribe((message) => {
        this.#count('outcomes', String((message as CallbackTrace).outcome));
      });
  }

  /** The address of the endpoint, once it listens. */
  async listen(): Promise<string> {
    const server = createServer((request, response) => this.#handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks/payments`;
  }

  take(): ReceiverAccount {
    const taken = (name: Count) => Object.fromEntries(this.#counts.get(name) ?? []);
    const account = {
      effects: this.#effects,
      replies: taken('replies'),
      outcomes: taken('outcomes'),
      failures: taken('failures'),
      told: taken('told'),
    };
    this.#effects = [];
    this.#counts = new Map();
    return account;
  }

  #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#random() < OFTEN) {
      this.#count('failures', 'connection lost before the reply');
      // While the work runs, or in place of the reply where the work has ended by then.
      request.once('end', () => response.destroy());
      response.end = () => response.destroy();
    } else {
      response.once('finish', () => this.#count('replies', `${response.statusCode}`));
    }
    return this.#handler(request, response);
  }

  async #ship(
    payment: PaymentStatusRecord,
    context: { signal: AbortSignal; current: boolean },
  ): Promise<void> {
    const dice = this.#random();
    if (dice < OFTEN) this.#fail('onPayment threw at once');
    if (dice < 0.3) await nextTurn();
    if (dice < 0.15) await pause(3);
    if (dice < 2 * OFTEN) this.#fail('onPayment threw later');
    // Some functions stop when the connection is lost, others never look.
    if (dice < 0.5) context.signal.throwIfAborted();
    const { referenceNumber, merchantPaymentReference, status, updatedAt } = payment;
    const { current } = context;
    this.#effects.push({ referenceNumber, merchantPaymentReference, status, updatedAt, current });
  }

  #fail(how: string): never {
    this.#count('failures', how);
    throw new Error(FAILURE);
  }

  #count(what: Count, name: string): void {
    const counts = this.#counts.get(what) ?? new Map<string, number>();
    this.#counts.set(what, counts.set(name, (counts.get(name) ?? 0) + 1));
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === FAILURE || error.name === 'AbortError'
    ? error.name
    : String(error.stack);
}

let shop: { readonly endpoint: Shop; readonly gauge: Gauge } | undefined;

function started() {
  if (shop === undefined) throw new Error('start was not called');
  return shop;
}

const calls = {
  async start(options: ReceiverStart): Promise<string> {
    const endpoint = new Shop(options);
    const url = await endpoint.listen();
    shop = { endpoint, gauge: new Gauge(() => ({})) };
    return url;
  },
  take: () => started().endpoint.take(),
  measure: (): Promise<Holdings> => started().gauge.measure(),
  listAlarms,
};
export type ReceiverCalls = typeof calls;

serveCalls(calls);
