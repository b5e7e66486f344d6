import { expect, it } from 'vitest';
import type { PaymentClient } from '../../../src/client/payment-client.js';
import { StoreError } from '../../../src/errors.js';
import type { PaymentStore } from '../../../src/store/payment-store.js';
import { ContractService } from '../../contract/store/service.js';
import { change, heldWork, order as inputOf, nothing } from '../../postgres/change.js';
import { outcomeOf } from '../outcome-of.js';

/** A server with the store's tables and a merchant's: `own_orders (reference, status)`, with `reference` as its key. */
export interface AttemptServer {
  /** A store as another process would have it, with connections of its own that wait for long. */
  openStore(client: PaymentClient): PaymentStore<unknown>;
  /** Runs the body in a transaction of the merchant's, at the server's own isolation. */
  transaction(body: (tx: unknown) => Promise<void>): Promise<void>;
  send(tx: unknown, sql: string): Promise<unknown>;
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** Settles when so many connections wait for a lock. */
  waitForBlocked(count: number): Promise<void>;
  /** How many deadlocks the server has found so far, in all transactions that have ended. */
  countDeadlocks(): Promise<number>;
}

const ROUNDS = 150;
const AT_ONCE = 4;
const LONG_AGO = new Date(0);
const LATER = new Date(Date.now() + 86_400_000);

/** What happens to one order whose first two payments were declined. */
class Round {
  readonly order: string;
  readonly #number: number;
  readonly #server: AttemptServer;
  readonly #stores: readonly PaymentStore<unknown>[];
  #minute = 0;

  constructor(number: number, server: AttemptServer, stores: readonly PaymentStore<unknown>[]) {
    this.order = `order-${number}`;
    this.#number = number;
    this.#server = server;
    this.#stores = stores;
  }

  /** Another one each time. */
  get #store(): PaymentStore<unknown> {
    this.#minute += 1;
    return this.#stores[
      (this.#number + this.#minute) % this.#stores.length
    ] as PaymentStore<unknown>;
  }

  async run(): Promise<void> {
    const { order } = this;
    await this.#server.query(`INSERT INTO own_orders VALUES ('${order}', 'new')`);
    await this.#store.create(inputOf(order));
    await this.#change(order, 'declined');
    await this.#store.create(inputOf(order));
    await this.#change(`${order}-2`, 'declined');
    const [first, second] = [order, `${order}-2`] as const;
    // Of one in four no payment is paid meanwhile, of one in four both.
    const paid = [[], [first], [second], [first, second]][this.#number % 4] as string[];
    await this.#tryAtOnce([first, second], paid);
    const { merchantPaymentReference: third = '' } = (await this.#store.getOrder(order)) ?? {};
    if (paid.length > 0) return expect(paid).toContain(third);
    expect([first, second]).not.toContain(third);
    await this.#store.send(third);
    await this.#change(third, 'declined');
    await this.#tryAtOnce([first, second, third], [third]);
    expect(await this.#store.getOrder(order)).toMatchObject({ merchantPaymentReference: third });
  }

  /** Callbacks of all attempts beside all that makes and sends further ones. */
  async #tryAtOnce(attempts: readonly string[], paid: readonly string[]): Promise<void> {
    const { order } = this;
    const latest = attempts.at(-1) as string;
    const own = (form: string) => ({ ...inputOf(`${latest}-${form}`) });
    const changes = attempts.flatMap((attempt) => [
      this.#change(attempt, 'declined'),
      this.#change(attempt, paid.includes(attempt) ? 'paid' : 'declined'),
    ]);
    const tries = [
      this.#store.create(inputOf(order)),
      this.#store.create(own('replacing'), { replaces: latest }),
      this.#server.transaction(async (tx) => {
        await this.#store.record(own('recorded'), { tx, replaces: latest });
        await this.#write(tx, 'tried again');
      }),
      this.#server.transaction(async (tx) => {
        await this.#store.record(inputOf(order), { tx });
        await this.#write(tx, 'tried again');
      }),
      this.#store.send(order),
      this.#store.prune(LONG_AGO),
    ];
    const [told] = await Promise.all([
      Promise.all(changes),
      ...tries.map((one) => one.catch(unlessRefused)),
    ]);
    const payers = told.filter(({ isPayer }) => isPayer);
    expect(payers).toHaveLength(Math.min(paid.length, 1));
  }

  /** A change of an attempt, whose work writes the merchant's own row of the order. */
  async #change(merchantPaymentReference: string, status: string) {
    const store = this.#store;
    const minute = this.#minute;
    const { payment } = { payment: undefined, ...(await store.get(merchantPaymentReference)) };
    const referenceNumber = String(payment?.referenceNumber);
    let isPayer = false;
    const event = change(merchantPaymentReference, minute, { referenceNumber, status });
    const deliver = () =>
      outcomeOf(store, event, async ({ tx, secondPayment }) => {
        isPayer = status === 'paid' && !secondPayment;
        await this.#write(tx, status);
      });
    // What a deadlock has ended is busy, and the service sends it again.
    let outcome = await deliver();
    while (outcome === 'busy') outcome = await deliver();
    expect(outcome).toBe('processed');
    return { isPayer };
  }

  #write(tx: unknown, status: string): Promise<unknown> {
    return this.#server.send(
      tx,
      `UPDATE own_orders SET status = '${status}' WHERE reference = '${this.order}'`,
    );
  }
}

/** Another attempt was faster, or has paid the order. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof StoreError && error.code === 'NOT_REPLACEABLE')) throw error;
}

/** What holds of the attempts at an order, whatever of them happens at once. */
export function describeAttemptLocks(server: AttemptServer): void {
  it('lose nothing and never deadlock, beside a merchant’s transaction that records first', async () => {
    const service = new ContractService();
    const stores = Array.from({ length: 4 }, () => server.openStore(service.client));
    const before = await server.countDeadlocks();
    const numbers = Array.from({ length: ROUNDS }, (_, number) => number).values();
    const takeOneAfterAnother = async (): Promise<void> => {
      for (const number of numbers) await new Round(number, server, stores).run();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, takeOneAfterAnother));
    expect((await server.countDeadlocks()) - before).toBe(0);
  });

  it('record nothing if the order is paid just then, as when it was paid before', async () => {
    const service = new ContractService();
    const store = server.openStore(service.client);
    const input = inputOf('paid-meanwhile');
    await store.create(input);
    const [referenceNumber = ''] = service.paymentsOf('paid-meanwhile');
    const tell = (status: string, minute: number) =>
      change('paid-meanwhile', minute, { referenceNumber, status });
    await outcomeOf(store, tell('declined', 1), nothing);
    const held = heldWork<unknown>();
    const paying = outcomeOf(store, tell('paid', 2), held.work);
    await held.started;
    const recording = server.transaction((tx) => store.record(input, { tx }));
    await server.waitForBlocked(1);
    held.finish();
    expect(await paying).toBe('processed');
    await recording;
    await server.transaction((tx) => store.record(input, { tx }));
    expect(await store.create(input)).toMatchObject({
      replayed: true,
      payment: { status: 'paid' },
    });
    expect(await store.get('paid-meanwhile-2')).toBeUndefined();
  });

  it('never deadlock with prune', async () => {
    const service = new ContractService();
    const [one, two] = [server.openStore(service.client), server.openStore(service.client)];
    const before = await server.countDeadlocks();
    for (let number = 0; number < ROUNDS / 5; number += 1) {
      const order = `pruned-${number}`;
      await one.create(inputOf(order));
      const declined = (reference: string, minute: number) =>
        outcomeOf(one, change(reference, minute, { status: 'declined' }), async () => {});
      await declined(order, 1);
      await one.create(inputOf(order));
      // What was deleted is not found any more: all that counts is that nobody waits in a circle.
      await Promise.allSettled([
        declined(`${order}-2`, 2),
        two.create({ ...inputOf(`${order}-own`) }, { replaces: `${order}-2` }),
        two.prune(LATER),
        declined(order, 3),
        two.create(inputOf(order)),
        one.prune(LATER),
      ]);
    }
    expect((await server.countDeadlocks()) - before).toBe(0);
  });
}
