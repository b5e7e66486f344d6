import { type ScenePlan, scenesWith } from './scene.js';

const PAID = { status: 'paid', at: 2 };
const paysTwice = { mustFail: /two payments|a payment exists/ };

/** Each without an assumption, so that it must fail. */
export const brokenScenes: Readonly<Record<string, ScenePlan>> = {
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
  ...scenesWith(paysTwice, {
    'without its lifetime, a look': { clicks: ['A'], recovers: 1, looksUp: 'number', late: true },
    'without its lifetime, a person': { clicks: ['AA'], people: 1, late: true },
    'without its lifetime, a stall': {
      clicks: ['A'],
      recovers: 1,
      looksUp: 'number',
      stalls: true,
      late: true,
    },
    'without the list': { clicks: ['AA'], people: 1, handmade: true },
  }),
};
