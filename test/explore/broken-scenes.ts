import type { ScenePlan } from './scene.js';

const PAID = { status: 'paid', at: 2 };

/** Each without an assumption, so that it must fail. */
export const brokenScenes: Readonly<Record<string, ScenePlan>> = {
  'without its lifetime, a look': {
    clicks: ['A'],
    recovers: 1,
    looksUp: 'number',
    late: true,
    mustFail: /two payments|a payment exists/,
  },
  'without its lifetime, a person': {
    clicks: ['AA'],
    people: 1,
    late: true,
    mustFail: /two payments|a payment exists/,
  },
  'without its lifetime, a stall': {
    clicks: ['A'],
    recovers: 1,
    looksUp: 'number',
    stalls: true,
    late: true,
    mustFail: /two payments|a payment exists/,
  },
  'without the list': {
    clicks: ['AA'],
    people: 1,
    handmade: true,
    mustFail: /two payments|a payment exists/,
  },
  'without the promise of idempotency': {
    clicks: ['A'],
    idempotency: 'broken',
    recovers: 1,
    mustFail: /two payments/,
  },
  'prune younger than a click': {
    clicks: ['AA'],
    prunes: 1,
    prunesYoung: true,
    mustFail: /a payment exists|two payments/,
  },
  'prune younger than a callback': {
    foreign: 1,
    changes: [PAID],
    prunes: 1,
    prunesYoung: true,
    mustFail: /a callback is forgotten|done twice/,
  },
};
