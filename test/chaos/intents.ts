import { setTimeout as pause } from 'node:timers/promises';
import type { MockServer } from '../../src/mock-server/server.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import type { PaymentState } from '../../src/store/stored-payment.js';
import { isRecorded } from './shop-config.js';
import { LEASE_MS } from './timing.js';

/** Until leases have run out, what was recorded is sent, and what is unresolved is listed. */
export async function untilNothingIsOpen(
  references: readonly string[],
  store: PaymentStore<unknown>,
): Promise<void> {
  await pause(LEASE_MS);
  for (;;) {
    await store.recover();
    const states = await Promise.all(references.map(async (one) => (await store.get(one))?.state));
    const listed = await list(store);
    const isOpen = (state: PaymentState | undefined, index: number) =>
      ['sending', 'recorded'].includes(state ?? '') ||
      (state === 'unresolved' && !listed.has(references[index] ?? ''));
    if (!states.some(isOpen)) return;
    await pause(100);
  }
}

interface Scene {
  readonly mock: MockServer;
  readonly store: PaymentStore<unknown>;
  readonly references: readonly string[];
}

type State = PaymentState | 'nothing';

/** What the store has of each order, beside what the service has of it. */
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

export async function lookAtIntents({ mock, store, references }: Scene): Promise<Look> {
  const existing = countPayments(mock);
  const states = new Map<string, State>();
  const counts: Partial<Record<State, number>> = {};
  const mistakes = [...existing]
    .filter(([, count]) => count > 1)
    .map(([reference, count]) => `${reference} has ${count} payments`);
  for (const reference of references) {
    const { state = 'nothing' } = (await store.get(reference)) ?? {};
    states.set(reference, state);
    counts[state] = (counts[state] ?? 0) + 1;
    if (MAY_EXIST[state]?.includes(existing.has(reference))) continue;
    const exists = existing.has(reference) ? 'has' : 'does not have';
    mistakes.push(`${reference} is ${state}, and the service ${exists} it`);
  }
  const listed = await list(store);
  const isListed = (reference: string) => listed.has(reference);
  mistakes.push(
    ...references
      .filter((one) => (states.get(one) === 'unresolved') !== isListed(one))
      .map((one) => `${one} is ${states.get(one)}, which the list of unresolved ones denies`),
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

async function list(store: PaymentStore<unknown>): Promise<Set<string>> {
  const listed = new Set<string>();
  for await (const { merchantPaymentReference } of store.attention({ kinds: ['unresolved'] })) {
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
