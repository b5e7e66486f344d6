import { type ScenePlan, scenesWith } from './scene.js';

const AUTHORIZED = { status: 'authorized', at: 1 };
const DECLINED = { status: 'declined', at: 2 };
const PAID = { status: 'paid', at: 3 };
const SOME = ['creates', 'refuses'] as const;
const declined = { begins: 'declined' } as const;
const declinedAtNight = { ...declined, isNightly: true };
const createdAtNight = { begins: 'created', isNightly: true } as const;
const atNight = { isNightly: true };

/** Attempts at an order. */
export const orderScenes: Readonly<Record<string, ScenePlan>> = {
  'an order, from the first click': {
    triesAgain: true,
    ownChanges: [[DECLINED], [PAID]],
    clicks: ['AA'],
  },
  'an order, replaced': { begins: 'created', ownChanges: [[PAID], []], replaces: 'create' },
  'an order, replaced while it is sent': { acts: SOME, replaces: 'record', clicks: ['A'] },
  ...scenesWith(declined, {
    'an order, a late paid': { ownChanges: [[PAID], [PAID]], clicks: ['A'], failures: 1 },
    'an order, a late change of the older attempt': {
      ownChanges: [[{ status: 'expired', at: 3 }], []],
      clicks: ['A'],
    },
    'an order, callbacks of two attempts at once': {
      ownChanges: [[PAID], [AUTHORIZED]],
      clicks: ['A'],
      overlaps: true,
    },
    'an order, record, send, a late paid': { ownChanges: [[PAID], []], records: true },
    'an order, pruned': { ownChanges: [[], [PAID]], clicks: ['A'], prunes: 1 },
    'an order, pruned while an attempt can still be paid': {
      ownChanges: [[PAID], [PAID]],
      clicks: ['A'],
      prunes: 1,
      prunesYoung: true,
      mustFail: /a payment exists/,
    },
    'an order, without its lifetime, a person': {
      clicks: ['AA'],
      people: 1,
      late: true,
      mustFail: /two payments|a payment exists/,
    },
  }),
  ...scenesWith(declinedAtNight, {
    'an order, two tabs': { clicks: ['A', 'A'], acts: SOME },
    'an order, two tabs, a crash': { clicks: ['A', 'A'], recovers: 1, crashes: 1 },
    'an order, two tabs, other bodies': { clicks: ['A', 'B'] },
    'an order, declined twice': { ownChanges: [[], [DECLINED], [PAID]], clicks: ['AA'] },
    'an order, a late paid, a declined attempt': {
      ownChanges: [[PAID], [DECLINED]],
      clicks: ['AA'],
    },
    'an order, a late paid, two tabs, a crash': {
      ownChanges: [[PAID], [PAID]],
      clicks: ['A', 'A'],
      crashes: 1,
    },
    'an order, a late paid, a look': {
      ownChanges: [[PAID], [PAID]],
      clicks: ['A'],
      recovers: 1,
      looksUp: 'status',
    },
    'an order, a late paid, a person': { ownChanges: [[PAID], [PAID]], clicks: ['A'], people: 1 },
    'an order, a late paid, idempotency': {
      ownChanges: [[PAID], []],
      clicks: ['A'],
      acts: SOME,
      recovers: 1,
      idempotency: 'kept',
    },
    'an order, record, send, recover, a late paid, a crash': {
      ownChanges: [[PAID], [AUTHORIZED]],
      records: true,
      recovers: 1,
      crashes: 1,
    },
    'an order, record, send, a customer': { records: true, clicks: ['A'] },
    'an order, recorded in place of it, recover, a late paid, a crash': {
      ownChanges: [[PAID], []],
      replaces: 'record',
      recovers: 1,
      crashes: 1,
      mortal: /^merchant/,
    },
    'an order, a person': { ownChanges: [[], [DECLINED]], clicks: ['AA'], people: 1 },
    'an order, a late paid, pruned': {
      ownChanges: [[PAID], [PAID]],
      clicks: ['A'],
      failures: 1,
      prunes: 1,
    },
  }),
  ...scenesWith(createdAtNight, {
    'an order, a decline beside a click': {
      ownChanges: [[DECLINED], [AUTHORIZED]],
      clicks: ['AA'],
    },
    'an order, a decline beside two clicks': { ownChanges: [[DECLINED], []], clicks: ['A', 'A'] },
    'an order, replaced twice': { replaces: 'create', merchants: 2 },
    'an order, recorded twice in place of it, a late paid': {
      ownChanges: [[PAID], []],
      acts: SOME,
      replaces: 'record',
      merchants: 2,
    },
    'an order, replaced beside a click': {
      ownChanges: [[DECLINED], [PAID]],
      replaces: 'create',
      clicks: ['A'],
    },
  }),
  ...scenesWith(atNight, {
    'an order, replaced while a customer may try again': {
      triesAgain: true,
      ownChanges: [[DECLINED], [PAID]],
      acts: SOME,
      replaces: 'record',
      clicks: ['A'],
    },
    'an order, a false success, replaced, a person': {
      answers: ['false success'],
      replaces: 'create',
      clicks: ['A'],
      people: 1,
    },
    'an order, another program': {
      triesAgain: true,
      foreign: 1,
      foreignChanges: [[DECLINED, PAID]],
      ownChanges: [[PAID]],
      clicks: ['A'],
    },
  }),
};
