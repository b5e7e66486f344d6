/** Who acts on an order with several attempts, and what may happen to them. */
export interface OrderScene {
  /** Tabs: the customer clicks in the first, and in each once more after a decline. */
  readonly tabs: number;
  /** The statuses of the first payment, the second, …, in their order. @default paid */
  readonly changes: readonly (readonly string[])[];
  /** Whether a click is `record`, then `send`. */
  readonly records?: boolean;
  /** Whether the merchant replaces the first attempt under a reference of its own, at any time. */
  readonly replaces?: boolean;
  readonly recovers?: boolean;
  /** Whether an answer may be lost. */
  readonly loses?: boolean;
  /** How often work may throw. */
  readonly failures?: number;
  readonly crashes?: number;
  /** The store's option. @default declined */
  readonly declined?: readonly string[];
}

export interface OrderPlan extends OrderScene {
  readonly mustFail?: RegExp;
  readonly isNightly?: boolean;
}

const TWICE = [['declined'], ['declined'], ['paid']];
/** The first payment is paid after all. */
const LATE = [['declined', 'paid'], ['paid']];

export const orderScenes: Readonly<Record<string, OrderPlan>> = {
  'two tabs after a decline': { tabs: 2, changes: [['declined'], ['paid']], loses: true },
  'two tabs after a decline, twice': { tabs: 2, changes: TWICE, isNightly: true },
  'a late paid of the first attempt': { tabs: 1, changes: LATE, loses: true },
  'a late paid, two tabs': { tabs: 2, changes: LATE, isNightly: true },
  'a late change of the first attempt': { tabs: 1, changes: [['declined', 'expired'], ['paid']] },
  'a late paid, recover, a crash': {
    tabs: 1,
    changes: LATE,
    recovers: true,
    crashes: 1,
    isNightly: true,
  },
  'a late paid, work that fails': { tabs: 1, changes: LATE, failures: 1 },
  'record and send, a crash': {
    tabs: 1,
    changes: LATE,
    records: true,
    recovers: true,
    crashes: 1,
    isNightly: true,
  },
  'a reference of its own': {
    tabs: 1,
    changes: [['declined'], ['paid']],
    replaces: true,
    loses: true,
  },
  'a reference of its own, a late paid': {
    tabs: 1,
    changes: LATE,
    replaces: true,
    isNightly: true,
  },
  'a reference of its own, two tabs, a crash': {
    tabs: 2,
    changes: LATE,
    replaces: true,
    crashes: 1,
    isNightly: true,
  },
  'two tabs, a crash, recover, lost answers': {
    tabs: 2,
    changes: LATE,
    recovers: true,
    loses: true,
    crashes: 1,
    isNightly: true,
  },
  // The merchant has not named the status.
  'a status that is not named': {
    tabs: 1,
    changes: [['declined']],
    declined: ['refused'],
    mustFail: /an order is locked/,
  },
};
