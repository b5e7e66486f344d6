import { PaymentClient } from '../../src/client/payment-client.js';
import { MerchantPaymentsError } from '../../src/errors.js';
import type { Attention } from '../../src/store/attention.js';
import type { StatusChange } from '../../src/store/callback-store.js';
import type { PaymentStore } from '../../src/store/payment-store.js';

export const ORDER = 'order-1';

interface Payment {
  readonly referenceNumber: string;
  readonly merchantPaymentReference: string;
}

/** One order of a shop, which takes one step after another by the public methods of its store. */
export class Shop {
  readonly #store: PaymentStore<never>;
  readonly #payments: Payment[] = [];
  /** The changes that are processed, in their order. */
  readonly #processed: string[] = [];
  #answer = '';

  /** @param open makes the store for a client */
  constructor(open: (client: PaymentClient) => PaymentStore<never>) {
    this.#store = open(
      new PaymentClient({
        baseUrl: 'https://service.invalid',
        apiKey: 'key',
        apiSecret: 'secret',
        maxRetries: 0,
        fetch: async (_url, request) => this.#serve(JSON.parse(String(request?.body))),
      }),
    );
  }

  #serve({ merchantPaymentReference }: Payment): Response {
    if (this.#answer === 'breaks') return new Response('', { status: 500 });
    if (this.#answer === 'refuses') {
      const error = { code: '1001', message: 'refused' };
      return Response.json({ error }, { status: 422 });
    }
    const payment = this.#add(merchantPaymentReference);
    const times = { createdAt: TIMES[0], updatedAt: TIMES[0] };
    return Response.json({ ...payment, ...times, status: 'pending' }, { status: 201 });
  }

  #add(merchantPaymentReference: string): Payment {
    const payment = {
      referenceNumber: `payment-${this.#payments.length + 1}`,
      merchantPaymentReference,
    };
    this.#payments.push(payment);
    return payment;
  }

  /** The steps that can be taken, of those of a tale. */
  async steps({ clicks = [], foreign = 0, changes, throws = false }: Tale): Promise<string[]> {
    const works = throws ? ['works', 'throws'] : ['works'];
    const items = await this.#attention();
    return [
      ...clicks.map((how) => `click ${how}`),
      ...(this.#payments.length < foreign ? ['another program'] : []),
      ...this.#payments.flatMap(({ referenceNumber }) =>
        changes.flatMap((change) =>
          works.map((work) => `callback ${referenceNumber} ${change} ${work}`),
        ),
      ),
      ...items.flatMap(({ kind }, index) => [
        ...(kind === 'failed-change' ? works.map((work) => `replay ${index} ${work}`) : []),
        ...(kind === 'failed-change' || kind === 'second-payment' ? [`discard ${index}`] : []),
      ]),
    ];
  }

  /** Takes a step, and returns the store's answer. */
  async take(step: string): Promise<unknown> {
    const [name = '', first = '', second = ''] = step.split(' ');
    const work = step.split(' ').at(-1);
    const items = name === 'replay' || name === 'discard' ? await this.#attention() : [];
    const item = items[Number(first)];
    try {
      switch (name) {
        case 'click':
          this.#answer = first;
          return plain(await this.#store.create({ ...INPUT, amount: first === 'other' ? 2 : 1 }));
        case 'another':
          this.#add(ORDER);
          return undefined;
        case 'callback':
          return await this.#process(first, second, { work, runParked: false });
        case 'replay': {
          if (item?.kind !== 'failed-change') return undefined;
          const status = item.key.split(':')[1] ?? '';
          return await this.#process(item.referenceNumber, status, { work, runParked: true });
        }
        default:
          return item && (await this.#store.discard(item));
      }
    } catch (error) {
      if (error instanceof MerchantPaymentsError) return error.code;
      throw error;
    }
  }

  async #process(
    referenceNumber: string,
    status: string,
    { work, runParked }: { work: string | undefined; runParked: boolean },
  ): Promise<unknown> {
    const found = this.#payments.find((one) => one.referenceNumber === referenceNumber);
    const key = `${referenceNumber}:${status}`;
    const updatedAt = TIMES[STATUSES.indexOf(status)] ?? '';
    const change = {
      key,
      payment: { ...(found as Payment), status, updatedAt },
      failures: { parkAfter: 1, runParked },
    } satisfies StatusChange;
    let told: unknown;
    const { outcome, parkedAfter, notKept } = await this.#store.process(change, async (context) => {
      const { current, secondPayment, order, input } = context;
      told = { current, secondPayment, order, input };
      if (work === 'throws') throw new Error('as the tale wants it');
    });
    if (outcome === 'processed') this.#processed.push(key);
    return plain({ outcome, parkedAfter, notKept, told });
  }

  async #attention(): Promise<readonly Attention[]> {
    const items: Attention[] = [];
    for await (const item of this.#store.attention({ olderThanMs: 0 })) items.push(item);
    // Those of one kind are listed by their times, which are the same in memory.
    return items.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  }

  /** Everything that the store shows of the order. */
  async look(): Promise<unknown> {
    const references = new Set([
      ORDER,
      ...this.#payments.map((one) => one.merchantPaymentReference),
    ]);
    const shown = [...references].map((reference) => this.#store.get(reference));
    const order = await this.#store.getOrder(ORDER);
    return plain({ order, shown: await Promise.all(shown), listed: await this.#attention() });
  }

  /** All that decides what it does next. */
  async state(): Promise<string> {
    return JSON.stringify([await this.look(), this.#processed, this.#payments]);
  }
}

/** What may happen in some stories. */
export interface Tale {
  /** What the service makes of a creation: `creates`, `refuses`, `breaks`; with `other`, the cart differs. */
  readonly clicks?: readonly string[];
  /** How many payments another program creates. */
  readonly foreign?: number;
  /** The statuses that callbacks tell of. */
  readonly changes: readonly string[];
  /** Whether work may throw, which parks its change. */
  readonly throws?: boolean;
  /** How many steps its stories have. */
  readonly depth: number;
}

const STATUSES = ['authorized', 'declined', 'paid', 'refunded'];
const TIMES = [1, 2, 3, 4].map((second) => `2026-01-01T00:00:0${second}Z`);
const INPUT = { merchantPaymentReference: ORDER, currency: 'EUR' };

const nameOf = (item: Attention) => JSON.stringify([item.kind, plain(item)]);

/** As JSON, without the store's times and the texts of errors. */
function plain(value: unknown): unknown {
  const isIdle = (name: string) =>
    /^(recordedAt|sentAt|changedAt|since|listedAt|.*FailedAt|error)$/.test(name);
  return JSON.parse(
    JSON.stringify(value ?? null, (name, field) => (isIdle(name) ? undefined : field)),
  );
}
