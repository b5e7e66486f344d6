// model/payments.pml on a real store.
import { readChange } from '../../src/store/change.js';
import type { Finding, Result } from '../../src/store/payment-row.js';
import { seconds } from '../contract/store/changes.js';
import { changeOf } from '../store/orders.js';
import { mayResolve, type Place, payments, type Row, type Step } from './order.js';
import type { Player, Run } from './replay.js';
import { type Lane, LEASE_MS, ownerOf, paymentOf } from './stores.js';

export const paymentsPlayer: Player<Place, Step> = {
  model: payments,
  begin: async (lane, key) => ({ lane, key, claims: [], count: 0 }),
  take,
  answerTo: (step, { row }, { row: changed }) => answerTo(step, row, changed),
  look: async ({ lane, key }) => ({
    row: await lane.look(key),
    isListed: await isListed(lane, key),
  }),
  show: (run, { row }) => ({ row: showRow(run, row), isListed: isUnderWay(row) && row.isOver }),
};

const isUnderWay = ({ state }: Row) => state === 'sending' || state === 'unresolved';

/** Whether a person who asks what is unresolved gets to see it: not before its request can no longer arrive. */
async function isListed({ backend }: Lane, key: string): Promise<boolean> {
  const page = { olderThanMs: 0, after: undefined, limit: 10 };
  return (await backend.list('unresolved', page)).some((listed) => listed.key === key);
}

/** What a lane shows of a row, with the body in full. */
export function showRow({ lane, key }: Run, row: Row): unknown {
  const body = row.body && bodyOf(key, row.body);
  return lane.show({ ...row, body: body as Row['body'] });
}

/** The body of the request that the model calls A or B. */
export function bodyOf(merchantPaymentReference: string, name: 'A' | 'B'): string {
  const amount = name === 'A' ? 1 : 2;
  return JSON.stringify({ merchantPaymentReference, amount, currency: 'EUR' });
}

async function take({ lane, key, claims, count: at }: Run, step: Step): Promise<unknown> {
  const { backend } = lane;
  const intentOf = (name: 'A' | 'B') => {
    const body = bodyOf(key, name);
    return { body, digest: backend.forms.toDigest(body) };
  };
  switch (step.name) {
    case 'claim': {
      const intent = step.body && intentOf(step.body);
      const allowsRejected = intent !== undefined;
      const owner = ownerOf(claims.length + 1);
      const claim = { key, intent, owner, allowsRejected, leaseMs: LEASE_MS };
      const { granted, stored } = await backend.claim(claim);
      if (granted && stored !== undefined) claims.push(stored);
      return { granted, state: stored?.state, attempts: stored?.attempts };
    }
    case 'record':
      return lane.record(key, intentOf(step.body));
    case 'expire':
      await backend.expire();
      return undefined;
    case 'tick':
      return lane.endLease(key);
    case 'finish': {
      const result = resultOf(step);
      // Who did not hear that its claim was granted releases it all the same.
      const claimed = step.outcome === 'not-sent' ? undefined : claims[step.token - 1];
      const stored = await backend.finish(key, ownerOf(step.token), result, claimed);
      // As mergeLateResult does.
      if (stored === undefined && result.finding) await backend.settle(key, result.finding);
      return { isOwner: stored !== undefined };
    }
    case 'resolve': {
      const { as, payment, seen } = step;
      const decision =
        as === 'unheard'
          ? ({ state: 'created', finding: findingOf(payment) } as const)
          : ({ state: as, failure: undefined } as const);
      return { outcome: (await backend.resolve(key, decision, seen)).outcome };
    }
    case 'callback': {
      const change = changeOf({
        order: key,
        key: `change-${at}`,
        referenceNumber: paymentOf(step.payment),
        status: step.isPaid ? 'paid' : 'authorized',
        updatedAt: seconds(at),
      });
      let told = {};
      const read = readChange(change, backend.forms);
      const outcome = await backend.process(read, async ({ current, secondPayment }) => {
        told = { current, secondPayment };
      });
      return { outcome, ...told };
    }
  }
}

function findingOf(payment: number): Finding {
  if (payment === 0)
    return { referenceNumber: undefined, payment: undefined, updatedAtUs: undefined };
  const referenceNumber = paymentOf(payment);
  return { referenceNumber, payment: JSON.stringify({ referenceNumber }), updatedAtUs: undefined };
}

function resultOf({ outcome, payment }: Extract<Step, { name: 'finish' }>): Result {
  switch (outcome) {
    case 'not-sent':
      return { state: 'recorded', failure: undefined };
    case 'refused':
      return { state: 'rejected', failure: '{}' };
    case 'unknown':
      return { state: 'unresolved', failure: '{}' };
    default:
      return { state: 'created', finding: findingOf(payment) };
  }
}

function answerTo(step: Step, row: Row, changed: Row): unknown {
  switch (step.name) {
    case 'claim': {
      const { state, attempts } = changed;
      const granted = attempts > row.attempts;
      if (state === 'nothing' || state === 'elsewhere') return { granted };
      return { granted, state: state === 'unheard' ? 'created' : state, attempts };
    }
    case 'finish':
      return { isOwner: row.owner === step.token };
    case 'resolve':
      return { outcome: decided(step, row) };
    case 'callback': {
      const current = changed.paidBy === 0 || changed.paidBy === step.payment;
      const secondPayment = changed.listed[step.payment === 1 ? 0 : 1];
      return { outcome: 'processed', current, secondPayment };
    }
    default:
      return undefined;
  }
}

function decided(step: Extract<Step, { name: 'resolve' }>, row: Row): string {
  if (mayResolve(row, step)) return 'resolved';
  if (row.state === 'nothing' || row.state === 'elsewhere') return 'unknown';
  const isOpen = row.state === 'sending' || row.state === 'unresolved';
  const isEarly = isOpen && row.attempts === step.seen && step.as !== 'unheard';
  return isEarly ? 'too-early' : 'moved-on';
}
