/** A status change of a payment, as the service made it. */
export interface Change {
  readonly key: string;
  readonly reference: string;
  /** That of its order, which has several payments if its customer has tried again. */
  readonly order: string;
  readonly status: string;
  /** When the service had the first acknowledgement, in epoch milliseconds. Infinite without one. */
  readonly acknowledgedAtMs: number;
}

/** What the merchant's function did for one change. */
export interface Effect {
  readonly key: string;
  readonly reference: string;
  /** That of its order, as the store said. */
  readonly order: string;
  readonly status: string;
  /** What the store said: false if a newer change was processed before, or another payment counts. */
  readonly isCurrent: boolean;
  /** What the store said: whether another payment has paid the order. */
  readonly isSecond: boolean;
  /** When the function began, in epoch milliseconds. */
  readonly beganAtMs: number;
  /** When its last write was done. Infinite when it threw or died before. */
  readonly doneAtMs: number;
}

/** An effect as a database without booleans keeps it. */
export type EffectRow = Omit<Effect, 'isCurrent' | 'isSecond' | 'doneAtMs'> & {
  readonly isCurrent: number;
  readonly isSecond: number;
  readonly doneAtMs: number | null;
};

export const toEffect = ({ isCurrent, isSecond, doneAtMs, ...effect }: EffectRow): Effect => ({
  ...effect,
  isCurrent: isCurrent === 1,
  isSecond: isSecond === 1,
  doneAtMs: doneAtMs ?? Number.POSITIVE_INFINITY,
});

/** What a run left behind. */
export interface History {
  /** Of each payment in the order in which they happened, and the payments of an order as they were created. */
  readonly changes: readonly Change[];
  /** Of each payment in the order in which they were done. */
  readonly effects: readonly Effect[];
  /** The merchant's orders: the last status written, by the order's reference. */
  readonly orders: ReadonlyMap<string, string>;
  /** How often goods were shipped for an order: once for each change, where the merchant guards it by key. */
  readonly shipments?: ReadonlyMap<string, number> | undefined;
  /** The latest payment of each order in the store. Without it, an order has one. */
  readonly latest?: ReadonlyMap<string, string> | undefined;
  /** The references of the second payments that the store lists. */
  readonly seconds?: ReadonlySet<string> | undefined;
}

/** What the store promises of effects. */
export type Guarantee = 'exactly-once' | 'at-least-once';

/** One payment's part of a history. */
interface PaymentHistory {
  readonly reference: string;
  readonly order: string;
  /** Whether it is the only payment of its order in the store. */
  readonly isOnly: boolean;
  readonly changes: readonly Change[];
  /** Of each effect, the index of its change. */
  readonly done: readonly number[];
  readonly effects: readonly Effect[];
}

type Rule = (payment: PaymentHistory) => string[];

const RULES: Readonly<Record<Guarantee, readonly Rule[]>> = {
  'exactly-once': [findLost, findForeign, findWrongOlder, findRepeated, findUntoldOlder],
  // An effect is repeated, and an older one may follow and be current, when a process died before it
  // could say that the newer one was done.
  'at-least-once': [findLost, findForeign, findWrongOlder],
};

/** What must not be in the history of a payment: one line for each mistake. */
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

// Acknowledged means that the change is done. That it is done in the end says nothing: until then a
// death of its process would have lost it.
function findLost({ changes, done, effects }: PaymentHistory): string[] {
  return changes.flatMap(({ status, acknowledgedAtMs }, index) => {
    const doneAtMs = Math.min(
      ...effects.filter((_, n) => done[n] === index).map((effect) => effect.doneAtMs),
    );
    if (
      acknowledgedAtMs === Number.POSITIVE_INFINITY ||
      doneAtMs <= acknowledgedAtMs + CLOCK_SLACK_MS
    )
      return [];
    return done.includes(index)
      ? [`${status} was acknowledged ${doneAtMs - acknowledgedAtMs} ms before it was done`]
      : [`${status} is lost`];
  });
}

function findForeign({ done, effects, order }: PaymentHistory): string[] {
  const others = effects.filter((effect) => effect.order !== order);
  return [
    ...(done.includes(-1) ? ['effect of no change'] : []),
    ...others.map((effect) => `effect of the order ${effect.order}`),
  ];
}

function findRepeated({ changes, done }: PaymentHistory): string[] {
  const times = changes.map((_, index) => done.filter((position) => position === index).length);
  return changes.flatMap(({ status }, index) =>
    Number(times[index]) > 1 ? [`${times[index]} effects of ${status}`] : [],
  );
}

/** Whether a newer change was done before each effect. */
function followsNewer({ done, effects }: PaymentHistory): boolean[] {
  return done.map((position, index) =>
    done
      .slice(0, index)
      .some((earlier, n) => earlier > position && Number.isFinite(effects[n]?.doneAtMs)),
  );
}

function findWrongOlder(payment: PaymentHistory): string[] {
  // Of several payments of an order, one counts, whether or not the latest was sent.
  if (!payment.isOnly) return [];
  const follows = followsNewer(payment);
  return payment.effects.flatMap(({ status, isCurrent }, index) =>
    isCurrent || follows[index] ? [] : [`${status} was run as older with nothing newer done`],
  );
}

function findUntoldOlder(payment: PaymentHistory): string[] {
  const follows = followsNewer(payment);
  return payment.effects.flatMap(({ status, isCurrent }, index) =>
    follows[index] && isCurrent ? [`${status} was run as current after a newer one`] : [],
  );
}

function splitByPayment({ changes, effects, latest }: History): PaymentHistory[] {
  const effectsByPayment = groupBy('reference', effects);
  return [...groupBy('reference', changes)].map(([reference, ofPayment]) => {
    const ofEffects = effectsByPayment.get(reference) ?? [];
    const [{ order }] = ofPayment as [Change];
    return {
      reference,
      order,
      isOnly: order === (latest?.get(order) ?? reference),
      changes: ofPayment,
      effects: ofEffects,
      done: ofEffects.map(({ key }) => ofPayment.findIndex((change) => change.key === key)),
    };
  });
}

/** Figures of a history, for people. */
export function countEffects({ changes, effects }: History) {
  const distinct = new Set(effects.map(({ key }) => key)).size;
  return {
    effects: effects.length,
    'effects repeated': effects.length - distinct,
    'changes without effect': changes.length - distinct,
    'effects run as older': effects.filter(({ isCurrent }) => !isCurrent).length,
    'effects not completed': effects.filter(
      (effect) => effect.doneAtMs === Number.POSITIVE_INFINITY,
    ).length,
  };
}

/** In the order in which the groups begin. */
export function groupBy<Name extends string, Item extends { readonly [name in Name]: string }>(
  name: Name,
  items: readonly Item[],
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(item[name]);
    if (group === undefined) groups.set(item[name], [item]);
    else group.push(item);
  }
  return groups;
}
