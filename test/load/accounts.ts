import { MAX_CONNECTIONS } from '../../src/client/transport/connections.js';
import type { CallEnd } from './client-worker.js';
import {
  type Outcome,
  type PaymentPlan,
  planPayment,
  type Situation,
  situationNames,
} from './plan.js';
import type { Effect, ReceiverAccount } from './receiver-worker.js';
import type { ServiceAccount, ServicePayment, ServiceRecord } from './service-worker.js';

/** What the three sides say of the same part of the run. */
export interface Statements {
  readonly ends: readonly CallEnd[];
  readonly service: ServiceAccount;
  readonly receiver: ReceiverAccount;
}

export type Counts = Map<string, number>;

/** Of the calls that ended in one way: how many there were, and how many payments they left. */
export interface Tally {
  calls: number;
  payments: number;
}

export const OUTCOMES: readonly Outcome[] = [
  'success',
  'accepted',
  'unknown',
  'rejected',
  'not-sent',
];

/** How many payments there may be after each outcome, whatever happened to the call. */
const PAYMENTS: Readonly<Record<Outcome, readonly number[]>> = {
  success: [1],
  accepted: [1],
  unknown: [0, 1],
  rejected: [0],
  'not-sent': [0],
};
const EXPECTED = { none: [0], one: [1], 'none or one': [0, 1] } as const;

/** The share of calls that a closing connection may take with it, on a busy machine. */
const MOST_LOST = 0.01;
/** The client leaves an idle connection so long before the service does. */
const IDLE_MARGIN_MS = 1_000;

/** Holds what the client, the service and the merchant say against each other. */
export class Accounts {
  /** What must not have happened: one line for each mistake. */
  readonly mistakes: string[] = [];
  /** By the name of the situation and the client's outcome. */
  readonly situations = new Map<string, Map<Outcome, Tally>>();
  /** By the client's outcome and the number of payments that the service has for it. */
  readonly outcomes = new Map<Outcome, Map<number, number>>();
  /** Everything else that was counted. */
  readonly counts: Counts = new Map();
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  add({ ends, service, receiver }: Statements): void {
    const records = new Map(service.records.map((record) => [record.number, record]));
    for (const end of ends) {
      this.#addCall(end, records.get(end.number) ?? nothing(end.number));
      records.delete(end.number);
    }
    for (const { number } of records.values()) this.#object(number, 'a call that no client made');
    this.#addCallbacks(service, receiver);
  }

  /** What a run was to reach and did not: it would prove nothing about that. */
  listUnreached(): string[] {
    const callbacks = ['processed', 'duplicate', 'busy', 'rejected', 'failed'];
    return [
      ...situationNames.filter((name) => !this.situations.has(name)),
      ...callbacks
        .filter((how) => !this.counts.has(`callback ${how}`))
        .map((how) => `callback ${how}`),
    ].map((name) => `never happened: ${name}`);
  }

  /**
   * Against a client that excuses everything by a connection that closed. Those that are idle all close at once where
   * client or service stood still.
   */
  judgeLostRequests(longestStallMs: number): string[] {
    const lost = this.counts.get('requests lost to a closing connection') ?? 0;
    const calls = this.counts.get('calls') ?? 0;
    const closed = longestStallMs < IDLE_MARGIN_MS ? 0 : MAX_CONNECTIONS;
    if (lost <= MOST_LOST * calls + closed) return [];
    return [`${lost} of ${calls} requests were lost to a closing connection`];
  }

  #addCall(end: CallEnd, record: ServiceRecord): void {
    const plan = planPayment(this.#seed, end.number);
    const { situation } = plan;
    const payments = record.payments.length;
    this.#count('calls');
    this.#count('requests', record.requests);
    this.#count('payments', payments);
    const tallies = getOrSet(this.situations, situation.name, () => new Map<Outcome, Tally>());
    const tally = getOrSet(tallies, end.outcome, () => ({ calls: 0, payments: 0 }));
    tally.calls += 1;
    tally.payments += payments;
    const row = getOrSet(this.outcomes, end.outcome, () => new Map<number, number>());
    row.set(payments, (row.get(payments) ?? 0) + 1);
    if (isLostOnItsWay(end, record, situation))
      this.#count('requests lost to a closing connection');
    for (const mistake of findCallMistakes(end, record, plan)) this.#object(end.number, mistake);
  }

  #addCallbacks({ records, ...service }: ServiceAccount, receiver: ReceiverAccount): void {
    const effects = new Map<string, Effect[]>();
    for (const effect of receiver.effects) {
      getOrSet(effects, effect.referenceNumber, () => []).push(effect);
    }
    for (const { number, payments } of records) {
      for (const payment of payments) {
        const own = effects.get(payment.referenceNumber) ?? [];
        effects.delete(payment.referenceNumber);
        this.#addEffects(planPayment(this.#seed, number), payment, own);
      }
    }
    for (const referenceNumber of effects.keys()) {
      this.mistakes.push(`${referenceNumber}: an effect of no payment`);
    }
    this.#count('effects', receiver.effects.length);
    this.#count('clock moved ahead (s)', service.advancedMs / 1000);
    this.mistakes.push(...compareSides(service, receiver));
    this.#addAll('attempt: ', service.attempts);
    this.#addAll('fault on ', service.faults);
    this.#addAll('callback ', receiver.outcomes);
    this.#addAll('merchant: ', receiver.failures);
    this.#addAll('told of ', receiver.told);
  }

  #addEffects(plan: PaymentPlan, payment: ServicePayment, effects: readonly Effect[]): void {
    this.#count('changes', payment.changes.length);
    const overtaken = effects.filter(({ current }) => !current);
    this.#count('changes overtaken by a newer one', overtaken.length);
    for (const { name } of plan.changes) this.#count(`change: ${name}`);
    for (const mistake of findEffectMistakes(plan, payment, effects)) {
      this.#object(plan.number, mistake);
    }
  }

  #addAll(prefix: string, counts: Readonly<Record<string, number>>): void {
    for (const [name, count] of Object.entries(counts)) this.#count(`${prefix}${name}`, count);
  }

  #count(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }

  #object(number: number, mistake: string): void {
    const { name } = planPayment(this.#seed, number).situation;
    this.mistakes.push(`payment ${number} (${name}): ${mistake}`);
  }
}

function nothing(number: number): ServiceRecord {
  return { number, requests: 0, payments: [] };
}

function findCallMistakes(
  end: CallEnd,
  record: ServiceRecord,
  { situation }: PaymentPlan,
): string[] {
  const { outcome, code, mistake, referenceNumber, attempts } = end;
  const { requests, payments } = record;
  const mistakes: string[] = [];
  const there = payments.length;
  const said = code === undefined ? outcome : `${outcome}, ${code}`;
  if (mistake !== undefined) mistakes.push(mistake);
  if (!PAYMENTS[outcome].includes(there)) {
    mistakes.push(`the client said ${said}, and the service has ${there} payments of it`);
  }
  const expected = situation.ends[outcome];
  const isExpected =
    expected !== undefined && (EXPECTED[expected] as readonly number[]).includes(there);
  if (!isExpected && !isLostOnItsWay(end, record, situation)) {
    mistakes.push(
      `the client said ${said}, and there are ${there} payments, which was not planned`,
    );
  }
  if (outcome === 'not-sent' && requests > 0) {
    mistakes.push(`the client said not-sent, and ${requests} requests arrived`);
  }
  // Without leave to repeat what may have been processed, only a 429 is followed by another request.
  const allowed = 1 + situation.faults.filter(({ type }) => type === 'rate-limit').length;
  if (requests > Math.min(allowed, 3)) mistakes.push(`${requests} requests arrived`);
  if (attempts !== undefined && attempts !== requests) {
    mistakes.push(`the client counts ${attempts} requests, the service ${requests}`);
  }
  if (referenceNumber !== undefined && referenceNumber !== payments[0]?.referenceNumber) {
    mistakes.push(`the client was given the payment ${referenceNumber}, which is another one`);
  }
  return mistakes;
}

/**
 * A server closes a connection that was idle for long enough, and a request can be on its way then. A
 * client that leaves in time has this only where its process was kept from running for a second.
 */
function isLostOnItsWay(
  { outcome, code }: CallEnd,
  { requests }: ServiceRecord,
  { faults }: Situation,
): boolean {
  return (
    outcome === 'unknown' &&
    code === 'CONNECTION_FAILED' &&
    requests < Math.max(1, faults.length + Number(faults.at(-1)?.type === 'rate-limit'))
  );
}

function findEffectMistakes(
  plan: PaymentPlan,
  { changes }: ServicePayment,
  effects: readonly Effect[],
): string[] {
  const mistakes = changes
    .filter(({ state }) => state !== 'acknowledged')
    .map(({ status, state }) => `the callback of ${status} is ${state}`);
  const planned = plan.changes.map(({ status }) => status).join(', ');
  const made = changes.map(({ status }) => status).join(', ');
  if (made !== planned) mistakes.push(`its statuses were ${made}, not ${planned}`);
  const positions = effects.map(({ updatedAt }) =>
    changes.findIndex((change) => change.updatedAt === updatedAt),
  );
  for (const [index, effect] of effects.entries()) {
    const newest = Math.max(...positions.slice(0, index), -1);
    mistakes.push(...judgeEffect(plan, effect, { position: positions[index] ?? -1, newest }));
  }
  const distinct = new Set(effects.map(({ updatedAt, status }) => `${updatedAt} ${status}`));
  if (distinct.size < effects.length) {
    mistakes.push(`${effects.length} effects of ${distinct.size} changes`);
  }
  for (const [index, { status }] of changes.entries()) {
    if (!positions.includes(index)) mistakes.push(`${status} had no effect`);
  }
  const shown = effects.findLast(({ current }) => current);
  if (shown?.status !== changes.at(-1)?.status) mistakes.push('it ended wrongly');
  return mistakes;
}

function judgeEffect(
  plan: PaymentPlan,
  { status, merchantPaymentReference, current }: Effect,
  { position, newest }: { readonly position: number; readonly newest: number },
): string[] {
  const mistakes: string[] = [];
  if (merchantPaymentReference !== plan.merchantPaymentReference) {
    mistakes.push(`an effect for ${merchantPaymentReference}`);
  }
  if (!isSentStatus(plan, position, status)) mistakes.push(`an effect ${status} of no change`);
  if (current !== position >= newest) {
    mistakes.push(`${status} was told as current: ${current}, after the change ${newest}`);
  }
  return mistakes;
}

const isSentStatus = (plan: PaymentPlan, position: number, status: string): boolean =>
  status === plan.changes[position]?.status;

/** Each reply that left has arrived; each 200 stands for work that is done. */
function compareSides(
  { attempts }: Omit<ServiceAccount, 'records'>,
  { replies, outcomes, effects, failures, told }: ReceiverAccount,
): string[] {
  const pairs: [string, number, number][] = ['200', '401', '422', '500', '503'].map((status) => [
    `replies ${status} received and sent`,
    attempts[status] ?? 0,
    replies[status] ?? 0,
  ]);
  pairs.push(
    ['callbacks processed and effects', outcomes['processed'] ?? 0, effects.length],
    [
      'callbacks failed and errors told',
      outcomes['failed'] ?? 0,
      (told['Error'] ?? 0) + (told['AbortError'] ?? 0),
    ],
    [
      'attempts failed and connections broken',
      attempts['failed'] ?? 0,
      failures['connection lost before the reply'] ?? 0,
    ],
  );
  return pairs
    .filter(([, one, other]) => one !== other)
    .map(([what, one, other]) => `${what}: ${one} and ${other}`);
}

function getOrSet<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = make();
  map.set(key, value);
  return value;
}
