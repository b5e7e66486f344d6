import type { ProcessingScene } from './processing-scene.js';

const AUTHORIZED = { status: 'authorized', at: 1 };
const PAID = { status: 'paid', at: 2 };
const REFUNDED = { status: 'refunded', at: 3 };
const ONE = [[PAID]];
const BOTH = [[AUTHORIZED, PAID]];
const lease = { engine: 'lease', payments: BOTH } as const;
const transaction = { engine: 'transaction', payments: BOTH } as const;

/** Each must hold, or must fail because of a documented limit: else the explorer would be blind. */
export const processingScenes: Readonly<Record<string, ProcessingScene>> = {
  'a lease': { ...lease, payments: ONE, copies: 2, failures: 2, parkAfter: 2 },
  'a lease, two payments': { ...lease, payments: [[PAID], [PAID]], failures: 1 },
  'a lease, three changes': { ...lease, payments: [[AUTHORIZED, PAID, REFUNDED]] },
  'a lease, a crash': {
    ...{ ...lease, payments: ONE, copies: 2, failures: 1, crashes: 1 },
    limits: ['done twice'],
  },
  'a lease, a crash, done once': { ...lease, crashes: 1, mustFail: /is done twice/ },
  'a lease, work hangs': { ...lease, hangs: 1 },
  'a lease, deaf work': { ...lease, hangs: 1, isDeaf: true, mustFail: /two deliveries/ },
  'a lease, a stall': {
    ...{ ...lease, payments: ONE, copies: 2, stalls: 1 },
    limits: ['done twice', 'overlap', 'failure lost'],
  },
  'a lease, a stall, a failure': {
    ...{ ...lease, payments: ONE, copies: 2, failures: 1, stalls: 1, isNightly: true },
    limits: ['done twice', 'overlap', 'failure lost'],
  },
  'a lease, a stall, two changes': {
    ...{ ...lease, failures: 1, stalls: 2, isNightly: true },
    limits: ['done twice', 'overlap', 'failure lost', 'older shown'],
  },
  'a lease, a stall, no overlap': { ...lease, stalls: 1, mustFail: /two deliveries/ },
  'a lease, a stall, the newest': {
    ...{ ...lease, copies: 2, stalls: 1, limits: ['done twice', 'overlap'] },
    mustFail: /the newest/,
  },
  'a lease, everything': {
    ...{ ...lease, payments: ONE, copies: 2, failures: 1, crashes: 1, hangs: 1 },
    limits: ['done twice'],
    isNightly: true,
  },
  'a transaction': {
    ...transaction,
    payments: ONE,
    copies: 2,
    failures: 2,
    crashes: 1,
    parkAfter: 2,
  },
  'a transaction, two payments': { ...transaction, payments: [[PAID], [PAID]], failures: 1 },
  'a transaction, three changes': { ...transaction, payments: [[AUTHORIZED, PAID, REFUNDED]] },
  'a transaction, a loss': {
    ...{ ...transaction, payments: ONE, copies: 2, losses: 1, limits: ['overlap'] },
  },
  'a transaction, a loss, parkAfter': {
    ...{ ...transaction, payments: ONE, failures: 2, losses: 1, parkAfter: 2 },
    limits: ['overlap'],
  },
  'a transaction, a loss, two changes': { ...transaction, losses: 1, limits: ['overlap'] },
  'a transaction, two losses': {
    ...{ ...transaction, payments: ONE, copies: 2, failures: 1, crashes: 1, losses: 2 },
    limits: ['overlap'],
    isNightly: true,
  },
  'a transaction, a loss, copies': {
    ...{ ...transaction, copies: 2, failures: 1, losses: 1, limits: ['overlap'] },
    isNightly: true,
  },
  'a transaction, a loss, no overlap': { ...transaction, losses: 1, mustFail: /two deliveries/ },
  'a transaction that its work ends': {
    ...{ ...transaction, endings: 1, failures: 1 },
    limits: ['done twice', 'older shown'],
  },
  'a transaction that its work ends, done once': {
    ...{ ...transaction, endings: 1, limits: ['older shown'] },
    mustFail: /is done twice/,
  },
};
