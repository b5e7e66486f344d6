import type { Delivery, DeliveryAttempt, EditableDelivery } from '../callbacks/delivery.js';
import { faultCatalogue } from '../faults/fault-catalogue.js';

/**
 * Groups of callbacks, the most urgent first.
 *
 * - `failed`: not acknowledged, even if a retry is due; or forged, yet acknowledged.
 * - `waiting`: being sent, held, delayed by a fault, or due for a retry after a `drop` fault or a correct refusal.
 * - `not-sent`: there was no callbackUrl.
 * - `done`: acknowledged, perhaps in a later delivery of the same change; or correctly refused.
 */
export const callbackGroups = ['failed', 'waiting', 'not-sent', 'done'] as const;
export type CallbackGroup = (typeof callbackGroups)[number];

export type GroupedCallbacks = Readonly<Record<CallbackGroup, readonly EditableDelivery[]>>;

/** Returns the deliveries of each group, newest first. */
export function groupCallbacks(oldestFirst: readonly EditableDelivery[]): GroupedCallbacks {
  const groups: Record<CallbackGroup, EditableDelivery[]> = {
    failed: [],
    waiting: [],
    'not-sent': [],
    done: [],
  };
  const settled = new Set<string>();
  for (let index = oldestFirst.length - 1; index >= 0; index -= 1) {
    const delivery = oldestFirst[index];
    if (delivery === undefined) continue;
    const group = settled.has(changeOf(delivery)) ? 'done' : groupOf(delivery);
    groups[group].push(delivery);
    const isSettled = delivery.state === 'acknowledged' && group === 'done';
    if (isSettled && delivery.edit === undefined) settled.add(changeOf(delivery));
  }
  return groups;
}

/** Returns a key for a status change, equal for all its deliveries: a payment never changes twice at one instant. */
function changeOf({ referenceNumber, payment }: Delivery): string {
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
  const isCorrectRefusal = refusal !== undefined && status >= 400 && status < 500;
  switch (delivery.state) {
    case 'acknowledged':
      return refusal === 'must' ? 'failed' : 'done';
    case 'given-up':
      return isCorrectRefusal ? 'done' : 'failed';
    case 'retrying':
      return last === undefined || last.outcome === 'dropped' || isCorrectRefusal
        ? 'waiting'
        : 'failed';
    case 'sending':
    case 'held':
      return 'waiting';
    default:
      return 'not-sent';
  }
}

/** Returns whether an endpoint must, or may, refuse the attempt. */
function refusalOf(
  { edit }: EditableDelivery,
  attempt: DeliveryAttempt | undefined,
): 'must' | 'may' | undefined {
  if (edit !== undefined) return edit.signature === 'kept' ? 'must' : 'may';
  const entry = attempt?.fault && faultCatalogue[attempt.fault];
  return entry?.on === 'callback' ? entry.refusal : undefined;
}
