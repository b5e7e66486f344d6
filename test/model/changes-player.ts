// model/changes.pml on a real store.
import { type Change, readChange } from '../../src/store/change.js';
import { seconds } from '../contract/store/changes.js';
import { changeOf } from '../store/orders.js';
import {
  type ChangeNumber,
  type Changes,
  changes,
  type Delivery,
  judge,
  paymentOfChange,
  saysPaid,
  timeOf,
} from './changes.js';
import type { Player, Run } from './replay.js';
import { LEASE_MS, ownerOf, paymentOf } from './stores.js';

const NUMBERS = [1, 2, 3] as const;

/** The body of the request that the model calls A. */
function bodyOf(merchantPaymentReference: string): string {
  return JSON.stringify({ merchantPaymentReference, amount: 1, currency: 'EUR' });
}

const keyOf = (change: ChangeNumber) => `change-${change}`;

/** The store does not know the order, or is sending its payment. */
export function changesPlayer(parks: boolean, isSending: boolean): Player<Changes, Delivery> {
  return {
    model: changes(parks, isSending),
    async begin(lane, key) {
      const run: Run = { lane, key, claims: [], count: 0 };
      if (!isSending) return run;
      const body = bodyOf(key);
      const intent = { body, digest: lane.backend.forms.toDigest(body) };
      const claim = { key, intent, owner: ownerOf(1), allowsRejected: true, leaseMs: LEASE_MS };
      const { stored } = await lane.backend.claim(claim);
      return { ...run, claims: stored === undefined ? [] : [stored] };
    },
    async take(run, delivery) {
      if (delivery.name === 'answer') return answer(run);
      return deliver(run, delivery, parks);
    },
    answerTo,
    async look({ lane, key }) {
      return { row: await lane.look(key), ...(await lane.lookAtChanges(key)) };
    },
    show,
  };
}

function read({ lane, key }: Run, change: ChangeNumber, parks: boolean): Change {
  const status = saysPaid(change) ? 'paid' : 'authorized';
  const found = changeOf({
    order: key,
    key: keyOf(change),
    referenceNumber: paymentOf(paymentOfChange(change)),
    status,
    updatedAt: seconds(timeOf(change)),
  });
  const failures = parks ? { parkAfter: 1 } : {};
  return readChange({ ...found, failures }, lane.backend.forms);
}

class WorkFailed extends Error {}

async function deliver(
  run: Run,
  { change, work, isReplay }: Extract<Delivery, { name: 'deliver' }>,
  parks: boolean,
): Promise<unknown> {
  const found = read(run, change, parks);
  const runParked = { ...found, policy: { ...found.policy, runParked: isReplay } };
  let told = {};
  try {
    const outcome = await run.lane.backend.process(runParked, async (context) => {
      const { current, secondPayment } = context;
      told = { current, secondPayment };
      if (work === 'throws') throw new WorkFailed('as the model wants it');
    });
    return { outcome, ...told };
  } catch (error) {
    if (error instanceof WorkFailed) return { outcome: 'thrown', ...told };
    return { outcome: (error as { code?: string }).code };
  }
}

async function answer({ lane, key, claims }: Run): Promise<unknown> {
  const referenceNumber = paymentOf(1);
  const payment = JSON.stringify({ referenceNumber });
  const finding = { referenceNumber, payment, updatedAtUs: undefined };
  const result = { state: 'created', finding } as const;
  const stored = await lane.backend.finish(key, ownerOf(1), result, claims[0]);
  return { isOwner: stored !== undefined };
}

function answerTo(delivery: Delivery, place: Changes, changed: Changes): unknown {
  if (delivery.name === 'answer') return { isOwner: true };
  const { change, work } = delivery;
  const { verdict, current } = judge(place, delivery);
  if (verdict === 'duplicate') return { outcome: verdict };
  if (verdict === 'parked') return { outcome: 'CHANGE_PARKED' };
  const secondPayment = changed.row.listed[paymentOfChange(change) - 1];
  const outcome = work === 'throws' ? 'thrown' : 'processed';
  return { outcome, current, secondPayment };
}

function show(run: Run, { row, processed, newest, failures }: Changes): unknown {
  const kept = NUMBERS.filter((change) => failures[change - 1] !== 'none');
  const seenFailures = kept.map((change) => [keyOf(change), failures[change - 1] === 'parked']);
  const body = row.body && bodyOf(run.key);
  const shown = {
    row: run.lane.show({ ...row, body }),
    failures: Object.fromEntries(seenFailures),
  };
  // In memory, only what follows shows these.
  if (!run.lane.hasTables) return shown;
  const done = NUMBERS.filter((change) => processed[change - 1]);
  const times = done.map((change) => {
    const payment = paymentOfChange(change);
    const newestChange = NUMBERS.find(
      (other) => paymentOfChange(other) === payment && timeOf(other) === newest[payment - 1],
    );
    return [paymentOf(payment), read(run, newestChange ?? change, false).rank];
  });
  return {
    ...shown,
    processed: Object.fromEntries(done.map((change) => [keyOf(change), true])),
    newest: Object.fromEntries(times),
  };
}
