import type { Delivery, DeliveryAttempt, EditableDelivery } from '../callbacks/delivery.js';
import { faultCatalogue } from '../faults/fault-catalogue.js';

/**
 * What people want to know of a callback, most urgent first.
 *
 * - `failed`: not acknowledged, or a forged one that was; also while a retry is due.
 * - `waiting`: being sent, held, or lost by a fault and due again.
 * - `not-sent`: there was no callbackUrl.
 * - `done`: acknowledged, by a later delivery of the same change too; or refused as it should be.
 */
export const callbackGroups = ['failed', 'waiting', 'not-sent', 'done'] as const;
export type CallbackGroup = (typeof callbackGroups)[number];

export type GroupedCallbacks = Readonly<Record<CallbackGroup, readonly EditableDelivery[]>>;

/** The deliveries in their groups, each newest first. */
export function groupCallbacks(oldestFirst: readonly EditableDelivery[]): GroupedCallbacks {
  const groups: Record<CallbackGroup, EditableDelivery[]> = {
    failed: [],
    waiting: [],
    'not-sent': [],
    done: [],
  };
  const settled = new Set<string>();
  for (let place = oldestFirst.length - 1; place >= 0; place -= 1) {
    const delivery = oldestFirst[place];
    if (delivery === undefined) continue;
    const group = settled.has(changeOf(delivery)) ? 'done' : groupOf(delivery);
    groups[group].push(delivery);
    const isSettled = delivery.state === 'acknowledged' && group === 'done';
    if (isSettled && delivery.edit === undefined) settled.add(changeOf(delivery));
  }
  return groups;
}

/** Names the change of a payment, whatever delivers it: no two changes of one are at the same time. */
export function changeOf({ referenceNumber, payment }: Delivery): string {
  return `${referenceNumber} ${payment.updatedAt}`;
}

export function countGroups(groups: GroupedCallbacks): Record<CallbackGroup, number> {
  const counts = callbackGroups.map((group) => [group, groups[group].length]);
  return Object.fromEntries(counts) as Record<CallbackGroup, number>;
}

function groupOf(delivery: EditableDelivery): CallbackGroup {
  const last = delivery.attempts.at(-1);
  const refusal = refusalOf(delivery, last);
  const { status = 0 } = last?.response ?? {};
  const isRefusedRightly = refusal !== undefined && status >= 400 && status < 500;
  switch (delivery.state) {
    case 'acknowledged':
      return refusal === 'must' ? 'failed' : 'done';
    case 'given-up':
      return isRefusedRightly ? 'done' : 'failed';
    case 'retrying':
      return last?.outcome === 'dropped' || isRefusedRightly ? 'waiting' : 'failed';
    case 'sending':
    case 'held':
      return 'waiting';
    default:
      return 'not-sent';
  }
}

/** Whether an endpoint must, or may, refuse the attempt. */
function refusalOf(
  { edit }: EditableDelivery,
  attempt: DeliveryAttempt | undefined,
): 'must' | 'may' | undefined {
  if (edit !== undefined) return edit.signature === 'kept' ? 'must' : 'may';
  const entry = attempt?.fault && faultCatalogue[attempt.fault];
  return entry?.on === 'callback' ? entry.refusal : undefined;
}
