import { type Change, type Effect, groupBy, type History } from './history.js';
import { LEASE_MS } from './timing.js';

/** One order's part of a history. */
interface OrderHistory {
  /** Its latest payment in the store. */
  readonly latest: string;
  readonly changes: readonly Change[];
  readonly effects: readonly Effect[];
  /** The merchant's order: the last status written. */
  readonly status: string | undefined;
  /** Undefined where the merchant ships nothing. */
  readonly shipped: number | undefined;
  /** The second payments of any order that the store lists. */
  readonly seconds: ReadonlySet<string>;
}

/** What must not be in the history of an order, whichever of its payments it concerns. */
export function findOrderMistakes(history: History): string[] {
  const effectsByOrder = groupBy('order', history.effects);
  return [...groupBy('order', history.changes)].flatMap(([order, changes]) => {
    const part = {
      latest: history.latest?.get(order) ?? order,
      changes,
      effects: effectsByOrder.get(order) ?? [],
      status: history.orders.get(order),
      shipped: history.shipments && (history.shipments.get(order) ?? 0),
      seconds: history.seconds ?? new Set(),
    };
    return [findOverlap, findWrongEnd, findWrongPayers].flatMap((rule) =>
      rule(part).map((mistake) => `${order}: ${mistake}`),
    );
  });
}

// Beyond this a claim may have been lost: to an outage, with the process none the wiser.
const SURELY_HELD_MS = LEASE_MS / 2;

function findOverlap({ effects }: OrderHistory): string[] {
  return effects.flatMap((first) =>
    first.doneAtMs - first.beganAtMs > SURELY_HELD_MS
      ? []
      : effects
          .filter(({ beganAtMs }) => first.beganAtMs < beganAtMs && beganAtMs < first.doneAtMs)
          .map((second) => `${second.status} was begun while ${first.status} was being processed`),
  );
}

/** The payments that were told as having paid the order. */
function payersOf({ effects }: OrderHistory): string[] {
  const paying = effects.filter(
    ({ status, isSecond, doneAtMs }) => status === 'paid' && !isSecond && Number.isFinite(doneAtMs),
  );
  return [...groupBy('reference', paying).keys()];
}

/** The order has the status of the payment that has paid it or, if none has, of the latest if that exists. */
function findWrongEnd(part: OrderHistory): string[] {
  const { changes, latest, status, shipped = changes.length } = part;
  const byPayment = groupBy('reference', changes);
  const [payer] = payersOf(part);
  const last = byPayment.get(payer ?? latest)?.at(-1)?.status ?? status;
  return [
    ...(status === last ? [] : [`the order is ${status}, not ${last}`]),
    ...(shipped === changes.length ? [] : [`${shipped} shipments of ${changes.length} changes`]),
  ];
}

/** Of the payments that are paid, one pays the order, and the store lists the others. */
function findWrongPayers(part: OrderHistory): string[] {
  const { changes, seconds } = part;
  const paid = groupBy(
    'reference',
    changes.filter(({ status }) => status === 'paid'),
  );
  const payers = payersOf(part);
  const wanted = Math.min(paid.size, 1);
  const isWrong = payers.length !== wanted;
  return [
    ...(isWrong ? [`${payers.length} payments have paid it, not ${wanted} of ${paid.size}`] : []),
    ...[...groupBy('reference', changes).keys()].flatMap((reference) => {
      const isSecond = paid.has(reference) && !payers.includes(reference);
      if (isSecond === seconds.has(reference)) return [];
      return [
        `${reference} is ${isSecond ? 'a second payment and not' : 'no second payment and'} listed`,
      ];
    }),
  ];
}
