import { type Delivery, isPaid, keyOf, nameOf, occurredAtUs, PAYMENTS } from './deliveries.js';

/** One delivery that the model has let begin. */
export interface Holder {
  readonly delivery: Delivery;
}

/** How a delivery ends whose work does not run. */
export type Refusal = 'duplicate' | 'busy' | 'parked';

/** What the work is told. */
export interface Told {
  readonly current: boolean;
  readonly secondPayment: boolean;
}

export type Begun = { readonly refused: Refusal } | { readonly told: Told };

interface Failure {
  readonly delivery: Delivery;
  readonly attempts: number;
  readonly parked: boolean;
}

interface OrderState {
  /** The payment that the store has created. */
  created: string | undefined;
  paidBy: string | undefined;
  readonly seconds: Set<string>;
  /** The processed changes of each payment. */
  readonly processed: Map<string, Delivery[]>;
  /** By the name of the change. */
  readonly failures: Map<string, Failure>;
  /** Who has the claim, dead or alive. */
  owner: Holder | undefined;
  /** Whether the claim may be taken over. */
  expired: boolean;
}

/** How stores differ in what they promise. */
export interface Promises {
  /** Whether a callback for an order in work is `busy`, before anything else is looked at. */
  readonly busyFirst: boolean;
  /** Whether all the same it may find a duplicate without a wait for its order. */
  readonly knowsDuplicates?: boolean;
  /** Whether the store keeps failures, and lists second payments. */
  readonly keeps: boolean;
}

/** What a store promises of changes, in the plainest words: no clock, no tables, nothing at the same time. */
export class StoreModel {
  readonly #orders = new Map<string, OrderState>();
  readonly promises: Promises;

  constructor(promises: Promises) {
    this.promises = promises;
  }

  /** The answer to a delivery that begins now. What it says of its order is known from then on, but for a `busy` one. */
  begin(holder: Holder): Begun {
    const { delivery } = holder;
    const refused = this.peek(delivery);
    const order = this.#order(delivery.order);
    const isSecond = this.#settle(delivery, refused);
    if (refused !== undefined) return { refused };
    order.owner = holder;
    order.expired = false;
    const isOthers = order.paidBy !== undefined && order.paidBy !== delivery.payment;
    const current = !this.#isOlder(delivery) && !isOthers;
    return { told: { current, secondPayment: isSecond } };
  }

  /** Why the work of a delivery would not run now; undefined if it would. */
  peek(delivery: Delivery): Refusal | undefined {
    const { owner, expired, failures } = this.#order(delivery.order);
    const isBusy = owner !== undefined && !expired;
    if (isBusy && this.promises.busyFirst) return 'busy';
    if (this.#isProcessed(delivery)) return 'duplicate';
    if (isBusy) return 'busy';
    const isParked = failures.get(nameOf(delivery))?.parked && !delivery.runParked;
    return isParked ? 'parked' : undefined;
  }

  /** Whether a delivery whose work does not run may end so. */
  allows(delivery: Delivery, expected: Refusal | undefined, ending: unknown): boolean {
    if (ending === expected) return true;
    const isFound = this.promises.knowsDuplicates === true && this.#isProcessed(delivery);
    return expected === 'busy' && ending === 'duplicate' && isFound;
  }

  #isProcessed(delivery: Delivery): boolean {
    return this.#processed(delivery).some((one) => keyOf(one) === keyOf(delivery));
  }

  #isOlder(delivery: Delivery): boolean {
    return this.#processed(delivery).some((one) => occurredAtUs(one) > occurredAtUs(delivery));
  }

  /** Returns whether the delivery is of a second payment of its order. */
  #settle(delivery: Delivery, refused: Refusal | undefined): boolean {
    const order = this.#order(delivery.order);
    if (refused === 'busy' && this.promises.busyFirst) return false;
    const { payment } = delivery;
    const isAnother = order.created !== undefined && order.created !== payment;
    const isPaidTwice = isPaid(delivery) && order.paidBy !== undefined && order.paidBy !== payment;
    if (isPaid(delivery)) order.paidBy ??= payment;
    const isSecond = isAnother || isPaidTwice || order.seconds.has(payment);
    if (isSecond && this.promises.keeps) order.seconds.add(payment);
    return isSecond;
  }

  /** Whether the claim is this holder's, and alive. */
  holds(holder: Holder): boolean {
    const { owner, expired } = this.#order(holder.delivery.order);
    return owner === holder && !expired;
  }

  isInWork(order: string): boolean {
    const { owner } = this.#order(order);
    return owner !== undefined;
  }

  /** Whether the end of the holder's work is recorded: not when another holder has had the claim since. */
  finish(holder: Holder, succeeded: boolean): boolean {
    const { delivery } = holder;
    const order = this.#order(delivery.order);
    if (order.owner !== holder) return false;
    order.owner = undefined;
    if (succeeded) {
      order.processed.set(delivery.payment, [...this.#processed(delivery), delivery]);
      order.failures.delete(nameOf(delivery));
    } else {
      this.#keep(delivery);
    }
    return true;
  }

  #keep(delivery: Delivery): void {
    if (!this.promises.keeps) return;
    const { failures } = this.#order(delivery.order);
    const known = failures.get(nameOf(delivery));
    const attempts = (known?.attempts ?? 0) + 1;
    const isEnough = attempts >= (delivery.parkAfter ?? Number.POSITIVE_INFINITY);
    const parked = isEnough || known?.parked === true;
    failures.set(nameOf(delivery), { delivery, attempts, parked });
  }

  /** Whether the next failure of a change would park it. */
  wouldPark(delivery: Delivery): boolean {
    const known = this.#order(delivery.order).failures.get(nameOf(delivery));
    const attempts = (known?.attempts ?? 0) + 1;
    return (
      this.promises.keeps &&
      !known?.parked &&
      attempts >= (delivery.parkAfter ?? Number.POSITIVE_INFINITY)
    );
  }

  /** The holder is taken for dead. It keeps its claim until another holder takes it over. */
  expire({ delivery }: Holder): void {
    this.#order(delivery.order).expired = true;
  }

  create(order: string): void {
    this.#order(order).created ??= PAYMENTS[0];
  }

  /** Forgets everything but the failures. */
  prune(): void {
    const failures = [...this.#orders].map(([name, order]) => [name, order.failures] as const);
    this.#orders.clear();
    for (const [name, kept] of failures) {
      for (const [change, failure] of kept) this.#order(name).failures.set(change, failure);
    }
  }

  /** What needs a person. */
  get attention(): readonly string[] {
    return [...this.#orders].flatMap(([order, { seconds, failures }]) => [
      ...[...seconds].map((payment) => `second ${order}/${payment}`),
      ...[...failures.entries()].map(
        ([name, { attempts, parked }]) => `failed ${name} ${attempts} ${parked}`,
      ),
    ]);
  }

  #processed({ order, payment }: Delivery): readonly Delivery[] {
    return this.#order(order).processed.get(payment) ?? [];
  }

  #order(name: string): OrderState {
    const known = this.#orders.get(name);
    if (known !== undefined) return known;
    const created: OrderState = {
      created: undefined,
      paidBy: undefined,
      seconds: new Set(),
      processed: new Map(),
      failures: new Map(),
      owner: undefined,
      expired: false,
    };
    this.#orders.set(name, created);
    return created;
  }
}
