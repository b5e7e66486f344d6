import { setTimeout as pause } from 'node:timers/promises';
import type { MockServer } from '../../src/mock-server/server.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { addFault, ask, type Customers } from './customers.js';
import type { ServiceLife } from './service-life.js';
import { DECLINED, toOrder } from './shop-config.js';

const TABS = 2;
const LATE_WITHIN_MS = 200;

interface Trying extends Customers {
  readonly life: ServiceLife;
}

/**
 * Has the customer of a declined payment try again in two tabs at once, until one is not declined. Meanwhile the service
 * pays some of the declined ones after all.
 */
export async function tryAgain(order: string, scene: Trying): Promise<void> {
  const { life, random } = scene;
  let latest = order;
  for (let number = 2; await life.untilOver(latest); number += 1) {
    const declined = latest;
    latest = `${order}-${number}`;
    if (random() < 0.4) addFault(latest, scene);
    const clicks = Array.from({ length: TABS }, () => ask(order, scene));
    if (random() < 0.3) {
      await pause(random() * LATE_WITHIN_MS);
      life.payLate(declined);
    }
    await Promise.all(clicks);
    await life.untilOver(declined);
  }
}

interface Scene {
  readonly store: PaymentStore<unknown>;
  readonly shopUrl: string;
  readonly orders: readonly string[];
}

/** Has each order whose payment is declined asked for once more. Returns those that get no further payment of it. */
export async function findLocked({ store, shopUrl, orders }: Scene) {
  const locked: string[] = [];
  let tried = 0;
  for (const order of orders) {
    const before = await store.getOrder(order);
    if (before?.state !== 'created' || before.payment?.status !== DECLINED) continue;
    tried += 1;
    await ask(order, { shopUrl });
    const after = await store.getOrder(order);
    const isFurther = after?.merchantPaymentReference !== before.merchantPaymentReference;
    if (isFurther && after?.state === 'created') continue;
    locked.push(`${order} is declined, and asked for again it is ${after?.state}`);
  }
  return { locked, tried };
}

/** The payments of orders that were tried again though no payment before had been declined. */
export function findUnwanted(mock: MockServer): string[] {
  const declined = new Set(
    mock.payments
      .list()
      .filter(({ history }) => history.some(({ status }) => status === DECLINED))
      .map(({ merchantPaymentReference }) => merchantPaymentReference),
  );
  return mock.payments.list().flatMap(({ merchantPaymentReference: reference }) => {
    const order = toOrder(reference);
    const number = Number(reference.slice(order.length + 1));
    const before = number === 2 ? order : `${order}-${number - 1}`;
    if (number === 0 || declined.has(before)) return [];
    return [`${reference} exists, and ${before} was not declined`];
  });
}
