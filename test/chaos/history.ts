import { LEASE_MS } from './timing.js';

/** A status change of a payment, as the service made it. */
export interface Change {
  readonly key: string;
  readonly reference: string;
  readonly status: string;
  /** When the service had the first acknowledgement, in epoch milliseconds. Infinite without one. */
  readonly acknowledgedAtMs: number;
}

/** What the merchant's function did for one change. */
export interface Effect {
  readonly key: string;
  readonly reference: string;
  readonly status: string;
  /** When the function began, in epoch milliseconds. */
  readonly beganAtMs: number;
  /** When its last write was done. Infinite when it threw or died before. */
  readonly doneAtMs: number;
}

/** What a run left behind. */
export interface History {
  /** Of each payment in the order in which they happened. */
  readonly changes: readonly Change[];
  /** Of each payment in the order in which they were done. */
  readonly effects: readonly Effect[];
  /** The merchant's orders: the last status written, by the payment's reference. */
  readonly orders: ReadonlyMap<string, string>;
}

/** What the inbox promises of effects. */
export type Guarantee = 'exactly-once' | 'at-least-once';

/** One payment's part of a history. */
interface PaymentHistory {
  readonly reference: string;
  readonly changes: readonly Change[];
  /** Of each effect, the index of its change. */
  readonly done: readonly number[];
  readonly effects: readonly Effect[];
  readonly order: string | undefined;
}

type Rule = (payment: PaymentHistory) => string[];

const RULES: Readonly<Record<Guarantee, readonly Rule[]>> = {
  'exactly-once': [findLost, findOverlap, findForeign, findWrongEnd, findRepeated, findOutOfOrder],
  // An effect is repeated, and an older one may follow, when a process died before it could say
  // that the newer one was done.
  'at-least-once': [findLost, findOverlap, findForeign, findWrongEnd],
};

/** What must not be in a history: one line for each mistake. */
export function findMistakes(history: History, guarantee: Guarantee): string[] {
  const mistakes = splitByPayment(history).flatMap((payment) =>
    RULES[guarantee].flatMap((rule) =>
      rule(payment).map((mistake) => `${payment.reference}: ${mistake}`),
    ),
  );
  const references = new Set(history.changes.map(({ reference }) => reference));
  const strangers = history.effects.filter(({ reference }) => !references.has(reference));
  return [...mistakes, ...strangers.map(({ reference }) => `${reference}: effect of no payment`)];
}

// The service's figure is a time plus a duration, and a loaded machine pauses between the clocks.
const CLOCK_SLACK_MS = 100;

// Acknowledged means that the change is done, or that a newer one is. That one of them is done in
// the end says nothing: until then a death of its process would have lost them.
function findLost({ changes, done, effects }: PaymentHistory): string[] {
  return changes.flatMap(({ status, acknowledgedAtMs }, index) => {
    const doneAtMs = Math.min(
      ...effects.filter((_, n) => Number(done[n]) >= index).map((effect) => effect.doneAtMs),
    );
    if (
      acknowledgedAtMs === Number.POSITIVE_INFINITY ||
      doneAtMs <= acknowledgedAtMs + CLOCK_SLACK_MS
    )
      return [];
    return done.includes(index)
      ? [
          `${status} was acknowledged ${doneAtMs - acknowledgedAtMs} ms before it or a newer one was done`,
        ]
      : [`${status} is lost`];
  });
}

// Beyond this a claim may have been lost: to an outage, with the process none the wiser.
const SURELY_HELD_MS = LEASE_MS / 2;

function findOverlap({ effects }: PaymentHistory): string[] {
  return effects.flatMap((first) =>
    first.doneAtMs - first.beganAtMs > SURELY_HELD_MS
      ? []
      : effects
          .filter(({ beganAtMs }) => first.beganAtMs < beganAtMs && beganAtMs < first.doneAtMs)
          .map((second) => `${second.status} was begun while ${first.status} was being processed`),
  );
}

function findForeign({ done }: PaymentHistory): string[] {
  return done.includes(-1) ? ['effect of no change'] : [];
}

function findWrongEnd({ changes, done, order }: PaymentHistory): string[] {
  const last = changes.at(-1)?.status;
  return [
    ...(done.at(-1) === changes.length - 1 ? [] : [`the last effect is not that of ${last}`]),
    ...(order === last ? [] : [`the order is ${order}, not ${last}`]),
  ];
}

function findRepeated({ changes, done }: PaymentHistory): string[] {
  const times = changes.map((_, index) => done.filter((position) => position === index).length);
  return changes.flatMap(({ status }, index) =>
    Number(times[index]) > 1 ? [`${times[index]} effects of ${status}`] : [],
  );
}

// The same one twice is a repeated effect, not one out of order.
function findOutOfOrder({ done }: PaymentHistory): string[] {
  const isAscending = done.every((position, index) => position >= (done[index - 1] ?? -1));
  return isAscending ? [] : [`effects out of order: changes ${done.join(', ')}`];
}

function splitByPayment({ changes, effects, orders }: History): PaymentHistory[] {
  const effectsByPayment = groupByReference(effects);
  return [...groupByReference(changes)].map(([reference, ofPayment]) => {
    const ofEffects = effectsByPayment.get(reference) ?? [];
    return {
      reference,
      changes: ofPayment,
      effects: ofEffects,
      done: ofEffects.map(({ key }) => ofPayment.findIndex((change) => change.key === key)),
      order: orders.get(reference),
    };
  });
}

/** Figures of a history, for people. */
export function countEffects({ changes, effects }: History) {
  const distinct = new Set(effects.map(({ key }) => key)).size;
  return {
    effects: effects.length,
    'effects repeated': effects.length - distinct,
    'changes without effect (stale)': changes.length - distinct,
    'effects not completed': effects.filter(
      (effect) => effect.doneAtMs === Number.POSITIVE_INFINITY,
    ).length,
  };
}

function groupByReference<Item extends { readonly reference: string }>(
  items: readonly Item[],
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(item.reference);
    if (group === undefined) groups.set(item.reference, [item]);
    else group.push(item);
  }
  return groups;
}
