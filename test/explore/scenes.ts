import { brokenScenes } from './broken-scenes.js';
import { orderScenes } from './order-scenes.js';
import { type ScenePlan, scenesWith } from './scene.js';

const AUTHORIZED = { status: 'authorized', at: 1 };
const PAID = { status: 'paid', at: 2 };
const REFUNDED = { status: 'refunded', at: 3 };
const SAME_INSTANT = [{ status: 'authorized', at: 2 }, PAID];
const DECLINED = { status: 'declined', at: 1 };
const ALL = ['creates', 'refuses', 'is busy'] as const;
const SOME = ['creates', 'refuses'] as const;
const atNight = { isNightly: true };
const looksAtNight = { ...atNight, looksUp: 'number' } as const;
const falseAtNight = { ...atNight, answers: ['false success'] } as const;
const keptAtNight = { ...atNight, idempotency: 'kept' } as const;

/** Each must hold, or must fail because an assumption does not hold: else the explorer would be blind. */
export const scenes: Readonly<Record<string, ScenePlan>> = {
  ...orderScenes,
  'a customer': { clicks: ['AA'], acts: ALL, answers: ['page', 'bare', 'conflict'] },
  'two customers': { clicks: ['A', 'A'], acts: ALL },
  'two customers, other bodies': { clicks: ['A', 'B'], acts: SOME },
  'recover, a crash': { clicks: ['A'], acts: SOME, recovers: 2, crashes: 1 },
  'recover looks up': { clicks: ['A'], recovers: 1, looksUp: 'number' },
  'a false record, a person': { clicks: ['AA'], people: 1, answers: ['false record'] },
  'a false success, a person, a callback': {
    clicks: ['A'],
    people: 1,
    answers: ['false success', 'bare'],
    changes: [PAID],
  },
  callbacks: { clicks: ['A'], changes: [AUTHORIZED, PAID], failures: 1 },
  'callbacks of one instant': { clicks: ['A'], changes: SAME_INSTANT, failures: 2 },
  'three callbacks': { foreign: 1, changes: [AUTHORIZED, PAID, REFUNDED], failures: 1 },
  'callbacks at once': { foreign: 1, changes: [AUTHORIZED, PAID], overlaps: true, failures: 1 },
  'a parked change': {
    foreign: 1,
    changes: [AUTHORIZED, PAID],
    failures: 2,
    parkAfter: 1,
    people: 1,
  },
  'parked after two failures': {
    foreign: 1,
    changes: [PAID],
    failures: 3,
    parkAfter: 2,
    people: 1,
  },
  'a callback, a person': { clicks: ['A'], changes: [PAID], people: 1 },
  'another program': { clicks: ['A'], foreign: 1, changes: [PAID], failures: 1 },
  'another program, two payments': { foreign: 2, changes: [AUTHORIZED, PAID] },
  'another program, two payments, refunded': {
    foreign: 2,
    changes: [PAID, REFUNDED],
    isInOrder: true,
  },
  'another program, two declined payments': {
    foreign: 2,
    changes: [{ status: 'authorized', at: 0 }, DECLINED],
  },
  'another program, two payments of one instant': { foreign: 2, changes: SAME_INSTANT },
  'another program, declined, then paid': {
    clicks: ['A'],
    changes: [PAID],
    foreign: 1,
    foreignChanges: [[DECLINED]],
  },
  // A limit: of an order that the store did not create, only one payment's record is kept until one has paid it.
  'another program, two payments, a refund overtakes its payment': {
    foreign: 2,
    changes: [PAID, REFUNDED],
    mustFail: /is not the newest/,
  },
  'another program, two payments, a refund overtakes the payment that pays': {
    foreign: 2,
    foreignChanges: [[PAID, REFUNDED], [AUTHORIZED]],
    mustFail: /the record is not the newest/,
  },
  prune: { clicks: ['A'], changes: [PAID], failures: 1, prunes: 1 },
  'prune, two changes': { foreign: 1, changes: [AUTHORIZED, PAID], failures: 1, prunes: 1 },
  'prune, two payments': { foreign: 2, changes: [PAID], prunes: 1 },
  ...scenesWith(looksAtNight, {
    'slow claims': { clicks: ['A'], recovers: 1, slowClaims: 1 },
    'two recover look up': { clicks: ['A'], recovers: 1, recoverers: 2 },
    'recover looks up, twice': { clicks: ['A'], recovers: 2, crashes: 1 },
    'recover looks up, a customer': { clicks: ['A', 'A'], recovers: 2, crashes: 1 },
    'a person, recover looks up': { clicks: ['A'], people: 1, recovers: 2 },
    'a look in vain, a person': {
      clicks: ['AA'],
      acts: ['refuses'],
      people: 1,
      recovers: 1,
      looksInVain: true,
    },
    'a stall, recover looks up': { clicks: ['A'], recovers: 1, stalls: true },
  }),
  ...scenesWith(falseAtNight, {
    'recover looks up, a false success': {
      clicks: ['A'],
      recovers: 2,
      looksUp: 'status',
      changes: [PAID],
    },
    'a false success, two hasty people': { clicks: ['A'], people: 2, hasty: true },
    'a false success, two people': { clicks: ['AA'], people: 2 },
  }),
  ...scenesWith(keptAtNight, {
    'slow claims, idempotency': { clicks: ['A'], recovers: 1, slowClaims: 1 },
    'two recover, idempotency': { clicks: ['A'], acts: SOME, recovers: 1, recoverers: 2 },
    idempotency: { clicks: ['A'], acts: SOME, recovers: 1 },
    'idempotency, a crash': { clicks: ['A'], acts: SOME, recovers: 2, crashes: 1 },
  }),
  ...scenesWith(atNight, {
    'two customers, other bodies, twice': { clicks: ['AB', 'B'], acts: SOME },
    'two customers who click twice': {
      clicks: ['AA', 'AA'],
      acts: ALL,
      answers: ['page', 'bare', 'conflict'],
    },
    'recover, two customers, a crash': { clicks: ['A', 'A'], acts: SOME, recovers: 1, crashes: 1 },
    'two recover': { clicks: ['A'], acts: SOME, recovers: 1, recoverers: 2 },
    'record, send': { records: true, acts: SOME, recovers: 1, crashes: 1 },
    'record, send, a customer': { records: true, clicks: ['B'], acts: SOME },
    'two people': { clicks: ['A'], people: 2 },
    'two people, a customer': { clicks: ['AA'], people: 2 },
    'a stall, a person': { clicks: ['AA'], people: 1, stalls: true },
    'callbacks, two customers': { clicks: ['A', 'A'], changes: [AUTHORIZED, PAID], failures: 1 },
    'three callbacks, a customer': {
      clicks: ['A'],
      changes: [AUTHORIZED, PAID, REFUNDED],
      failures: 1,
    },
    'a parked change, two people': {
      foreign: 1,
      changes: [PAID],
      failures: 2,
      parkAfter: 1,
      people: 2,
    },
    'a callback, a look': { clicks: ['A'], changes: [PAID], recovers: 1, looksUp: 'status' },
    'a look that finds nothing new': { clicks: ['A'], recovers: 1, looksUp: 'status' },
    'a callback, a look, a crash': {
      clicks: ['A'],
      changes: [PAID],
      recovers: 1,
      looksUp: 'status',
      crashes: 1,
    },
    'a callback, a person, two customers': { clicks: ['A', 'A'], changes: [PAID], people: 1 },
    'another program, two payments, a failure': {
      foreign: 2,
      changes: [AUTHORIZED, PAID],
      failures: 1,
    },
    'another program, two payments, refunded, a person': {
      foreign: 2,
      changes: [PAID, REFUNDED],
      isInOrder: true,
      people: 1,
    },
    'another program, a second payment of one instant': {
      clicks: ['A'],
      changes: [],
      foreign: 1,
      foreignChanges: [SAME_INSTANT],
      failures: 1,
    },
    'another program, a refund at the instant of the second payment': {
      clicks: ['A'],
      changes: [PAID],
      foreign: 1,
      foreignChanges: [
        [
          { status: 'paid', at: 1 },
          { status: 'refunded', at: 2 },
        ],
      ],
    },
    'another program, a customer, a person': {
      clicks: ['A'],
      acts: ['refuses'],
      people: 1,
      foreign: 1,
      changes: [PAID],
    },
    'another program, a person': { foreign: 2, changes: [AUTHORIZED, PAID], people: 1 },
    'another program, a look': {
      clicks: ['A'],
      foreign: 1,
      changes: [PAID],
      recovers: 1,
      looksUp: 'status',
    },
    'another program, record, recover': { foreign: 1, changes: [PAID], records: true, recovers: 1 },
    'prune, a second payment': { clicks: ['A'], foreign: 1, changes: [PAID], prunes: 1 },
  }),
  ...brokenScenes,
};
