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
  /** What is stored of the order's payment: the last that was told of it. */
  record: Delivery | undefined;
  /** By payment, what is stored of it. */
  readonly seconds: Map<string, Delivery>;
  /** By payment, the last of its deliveries that was told and says that it is paid. */
  readonly paid: Map<string, Delivery>;
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
    const current = !this.#isOlder(delivery) && !this.#isBesidePaid(delivery) && !isOthers;
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
    return this.#processed(delivery).some((one) => !isLater(delivery, one));
  }

  /** Whether what is stored of its payment is `paid` at the same instant. A store that keeps no records knows only that. */
  #isBesidePaid(delivery: Delivery): boolean {
    if (isPaid(delivery)) return false;
    const { record, seconds, paid } = this.#order(delivery.order);
    const { payment } = delivery;
    const own = record?.payment === payment ? record : undefined;
    const stored = this.promises.keeps ? [own, seconds.get(payment)] : [paid.get(payment)];
    return stored.some((one) => one && isPaid(one) && occurredAtUs(one) === occurredAtUs(delivery));
  }

  /** Returns whether the delivery is of a second payment of its order. */
  #settle(delivery: Delivery, refused: Refusal | undefined): boolean {
    const order = this.#order(delivery.order);
    if (refused === 'busy' && this.promises.busyFirst) return false;
    const { payment } = delivery;
    const isAnother = order.created !== undefined && order.created !== payment;
    const isPaidTwice = isPaid(delivery) && order.paidBy !== undefined && order.paidBy !== payment;
    const pays = isPaid(delivery) && order.paidBy === undefined;
    const isOld = this.#isProcessed(delivery) || this.#isOlder(delivery);
    if (this.#isRecord(delivery, { isOld, pays })) order.record = delivery;
    if (pays) order.paidBy = payment;
    if (isPaid(delivery) && isLater(delivery, order.paid.get(payment))) {
      order.paid.set(payment, delivery);
    }
    const second = order.seconds.get(payment);
    const isSecond = isAnother || isPaidTwice || second !== undefined;
    const isNews = second === undefined || (!isOld && isLater(delivery, second));
    if (isSecond && this.promises.keeps && isNews) order.seconds.set(payment, delivery);
    return isSecond;
  }

  /** Whether the delivery becomes what is stored of the order's payment. */
  #isRecord(delivery: Delivery, { isOld, pays }: { isOld: boolean; pays: boolean }): boolean {
    const { created, record, paidBy } = this.#order(delivery.order);
    if (created !== undefined && created !== delivery.payment) return false;
    if (record === undefined) return true;
    if (record.payment === delivery.payment) return !isOld && isLater(delivery, record);
    // Another program has created it: the latest payment counts until one has paid the order.
    return pays || (!isOld && paidBy === undefined);
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

  /** A payment that callbacks have told of is the order's. */
  create(name: string): void {
    const order = this.#order(name);
    if (order.record === undefined) order.created ??= PAYMENTS[0];
  }

  /** Forgets orders for which no person is needed, and what was processed of payments without a failure. */
  prune(): void {
    for (const [name, { failures, seconds, processed }] of this.#orders) {
      const failed = new Set([...failures.values()].map(({ delivery }) => delivery.payment));
      for (const payment of processed.keys()) if (!failed.has(payment)) processed.delete(payment);
      if (failures.size === 0 && seconds.size === 0) this.#orders.delete(name);
    }
  }

  /** What needs a person. */
  get attention(): readonly string[] {
    return [...this.#orders].flatMap(([order, { seconds, failures }]) => [
      ...[...seconds.keys()].map((payment) => `second ${order}/${payment}`),
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
      record: undefined,
      seconds: new Map(),
      paid: new Map(),
      processed: new Map(),
      failures: new Map(),
      owner: undefined,
      expired: false,
    };
    this.#orders.set(name, created);
    return created;
  }
}

/** Whether the record of one delivery is not before that of another one of the same payment. */
function isLater(one: Delivery, other: Delivery | undefined): boolean {
  if (other === undefined) return true;
  const leftUs = occurredAtUs(one) - occurredAtUs(other);
  return leftUs === 0 ? isPaid(one) || !isPaid(other) : leftUs > 0;
}
