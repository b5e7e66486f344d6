/** A status change of a payment, as the service made it. */
export interface Change {
  readonly key: string;
  readonly reference: string;
  readonly status: string;
  /**
   * Whether it was acknowledged before the payment's next change was made: it can't have been
   * stale then. True for a payment's last change, too.
   */
  readonly mustHaveEffect: boolean;
}

/** What the merchant's function did for one change. */
export interface Effect {
  readonly key: string;
  readonly reference: string;
  readonly status: string;
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
  readonly order: string | undefined;
}

type Rule = (payment: PaymentHistory) => string[];

const RULES: Readonly<Record<Guarantee, readonly Rule[]>> = {
  'exactly-once': [findLost, findForeign, findWrongEnd, findRepeated, findOutOfOrder],
  // An effect is repeated, and an older one may follow, when a process died before it could say
  // that the newer one was done.
  'at-least-once': [findLost, findForeign, findWrongEnd],
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

function findLost({ changes, done }: PaymentHistory): string[] {
  return changes
    .filter(({ mustHaveEffect }, index) => mustHaveEffect && !done.includes(index))
    .map(({ status }) => `${status} is lost`);
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
  return [...groupByReference(changes)].map(([reference, ofPayment]) => ({
    reference,
    changes: ofPayment,
    done: (effectsByPayment.get(reference) ?? []).map(({ key }) =>
      ofPayment.findIndex((change) => change.key === key),
    ),
    order: orders.get(reference),
  }));
}

/** Figures of a history, for people. */
export function countEffects({ changes, effects }: History) {
  const distinct = new Set(effects.map(({ key }) => key)).size;
  return {
    effects: effects.length,
    'effects repeated': effects.length - distinct,
    'changes without effect (stale)': changes.length - distinct,
    'changes that could not be stale': changes.filter((change) => change.mustHaveEffect).length,
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
