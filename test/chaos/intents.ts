import { setTimeout as pause } from 'node:timers/promises';
import type { MockServer } from '../../src/mock-server/server.js';
import type { MockPayment } from '../../src/mock-server/state/payments.js';
import type { AttentionKind } from '../../src/store/attention.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import type { PaymentState, StoredPayment } from '../../src/store/stored-payment.js';
import { isRecorded, toOrder } from './shop-config.js';
import { LEASE_MS } from './timing.js';

/** Until leases have run out, what was recorded is sent, and what is unresolved is listed, or looked up. */
export async function untilNothingIsOpen({ mock, orders, store }: Scene): Promise<void> {
  await pause(LEASE_MS);
  for (;;) {
    await store.recover({ lookUp: (reference) => lookUp(reference, mock) });
    const listed = await list(store, 'unresolved');
    const isOpen = ([reference, state]: [string, State]) =>
      ['sending', 'recorded'].includes(state) ||
      (state === 'unresolved' && (isRecorded(reference) || !listed.has(reference)));
    if (![...(await readStates(orders, store))].some(isOpen)) return;
    await pause(100);
  }
}

/** The state of each order's payments. */
async function readStates(
  orders: readonly string[],
  store: PaymentStore<unknown>,
): Promise<Map<string, State>> {
  const states = new Map<string, State>();
  const readOrder = async (order: string): Promise<void> => {
    for (let reference: string | undefined = order; reference !== undefined; ) {
      const payment: StoredPayment | undefined = await store.get(reference);
      states.set(reference, payment?.state ?? 'nothing');
      reference = payment?.replacedBy;
    }
  };
  await Promise.all(orders.map(readOrder));
  return states;
}

/** What the service has of a payment that the shop looks up. */
export function lookUp(reference: string, mock: MockServer) {
  if (!isRecorded(reference)) return undefined;
  const isIt = (payment: MockPayment) => payment.merchantPaymentReference === reference;
  return mock.payments.list().find(isIt) ?? 'not-created';
}

interface Scene {
  readonly mock: MockServer;
  readonly store: PaymentStore<unknown>;
  readonly orders: readonly string[];
}

type State = PaymentState | 'nothing';

/** What the store has of each payment, beside what the service has of it. */
export interface Look {
  readonly states: ReadonlyMap<string, State>;
  readonly counts: Readonly<Partial<Record<State, number>>>;
  readonly mistakes: readonly string[];
  /** What the store lists as unresolved though the service has it. */
  readonly unsettled: readonly string[];
}

/** Whether the service may have a payment of a state; what is not named may not be at the end. */
const MAY_EXIST: Readonly<Partial<Record<State, readonly boolean[]>>> = {
  created: [true],
  rejected: [false],
  unresolved: [true, false],
  // None of its callers has reached a process that lived.
  nothing: [false],
};

export async function lookAtIntents({ mock, store, orders }: Scene): Promise<Look> {
  const existing = countPayments(mock);
  const states = await readStates(orders, store);
  const counts: Partial<Record<State, number>> = {};
  const mistakes = [...existing]
    .filter(([, count]) => count > 1)
    .map(([reference, count]) => `${reference} has ${count} payments`);
  for (const [reference, state] of states) {
    counts[state] = (counts[state] ?? 0) + 1;
    if (MAY_EXIST[state]?.includes(existing.has(reference))) continue;
    const exists = existing.has(reference) ? 'has' : 'does not have';
    mistakes.push(`${reference} is ${state}, and the service ${exists} it`);
  }
  const listed = await list(store, 'unresolved');
  const isListed = (reference: string) => listed.has(reference);
  mistakes.push(
    ...[...states]
      .filter(([one, state]) => (state === 'unresolved') !== isListed(one))
      .map(([one, state]) => `${one} is ${state}, which the list of unresolved ones denies`),
  );
  return { states, counts, mistakes, unsettled: [...existing.keys()].filter(isListed) };
}

function countPayments(mock: MockServer): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { merchantPaymentReference: reference } of mock.payments.list()) {
    counts.set(reference, (counts.get(reference) ?? 0) + 1);
  }
  return counts;
}

/** The references that the store lists. */
export async function list(
  store: PaymentStore<unknown>,
  kind: AttentionKind,
): Promise<Set<string>> {
  const listed = new Set<string>();
  for await (const { merchantPaymentReference } of store.attention({ kinds: [kind] })) {
    listed.add(merchantPaymentReference);
  }
  return listed;
}

/** Orders that are not what the store and the service have of them; {@link findMistakes} looks at those that were changed. */
export function findWrongOrders(
  { states }: Look,
  orders: ReadonlyMap<string, string>,
  mock: MockServer,
): string[] {
  const existing = countPayments(mock);
  return [...states].flatMap(([reference, state]) => {
    if (reference !== toOrder(reference)) return [];
    const order = orders.get(reference);
    const isTorn =
      state === 'nothing' ? isRecorded(reference) && order !== undefined : order === undefined;
    if (isTorn) return [`${reference} is ${state}, and its order ${order}`];
    const isChanged = order !== undefined && order !== 'created';
    return isChanged && !existing.has(reference)
      ? [`the order ${reference} is ${order} without a payment`]
      : [];
  });
}
