import assert from 'node:assert/strict';
import type { ChangeName } from '../../src/store/change.js';
import type { Claim } from '../../src/store/payment-row.js';
import type { OwnedRow } from '../../src/store/steps.js';
import type { StoredPayment } from '../../src/store/stored-payment.js';
import { INPUTS } from './actors.js';
import { isPaid, newestOf } from './ledger.js';
import { type Begun, checkClaimed, checkShownBy } from './order-claims.js';
import { LEASE_MS, LIFETIME_MS } from './scene.js';
import { REFERENCE } from './tables.js';
import type { World } from './world.js';

/** While the service may have a payment that the store has sent. */
const MAY_EXIST: readonly unknown[] = ['sending', 'unresolved', 'unheard', 'missed', 'created'];

/** What must hold when a claim was granted: nothing is sent while an earlier request may have created a payment. */
export function checkGranted(world: World, before: OwnedRow | undefined, given: unknown): void {
  const { scene, ledger, service, turns } = world;
  const { key, intent, isRepetition, allowsRejected } = given as Claim;
  const isRecovery = before?.state === 'rejected' && !allowsRejected;
  assert.ok(!isRecovery, 'recover() sends what was rejected');
  const isOther = before?.state === 'recorded' && intent && intent.body !== before.body;
  assert.ok(!isOther, 'another body is sent than the one recorded');
  if (ledger.isForgotten) return;
  checkClaimed(world, before);
  if (isRepetition) {
    const isOver = (before?.sentAtMs ?? 0) + LEASE_MS <= turns.nowMs;
    assert.ok(isOver && before?.state === 'unresolved', 'sent again before its lease is over');
    return;
  }
  const isKnown = ledger.numbersOf(key).size > 0 || service.oursOf(key).length > 0;
  assert.ok(!isKnown, 'sent although a payment exists');
  if (scene.late) return;
  assert.ok(!service.isAwaited(key), 'sent although an earlier request may still create a payment');
}

/** What must hold of what `create` returns. */
export function checkReturned(
  world: World,
  stored: StoredPayment,
  { body, begun }: { readonly body: string; readonly begun: Begun },
): void {
  const { input, state, error } = stored;
  checkShownBy(world, stored, begun);
  const isSame = input === undefined || input.amount === INPUTS[body as 'A'].amount;
  assert.ok(isSame, 'create() returns another body');
  // A late caller learns what others have found meanwhile.
  if (world.turns.nowMs > begun.atMs) return;
  const isUnsent = state === 'recorded' || state === 'rejected';
  const isTurnedAway = ['not-sent', 'rejected'].includes(error?.requestOutcome ?? '');
  assert.ok(!isUnsent || isTurnedAway, 'create() has neither sent nor refused it');
  assert.notEqual(state, 'sending', 'create() does not wait for another');
}

/** What must hold when a person has stopped waiting for a callback: no other decision is undone. */
export function checkStopped(
  { tables }: World,
  reference: string,
  before: OwnedRow | undefined,
): void {
  const state = before?.state;
  if (state === 'unheard' || state === 'missed') return;
  assert.equal(tables.row(reference)?.state, state, 'who stops waiting undoes another decision');
}

/** What must hold when a person has discarded a failed change: it has not failed again since it was listed. */
export async function checkForgotten(
  { ledger, tables }: World,
  name: unknown,
  attempts: unknown,
): Promise<void> {
  const { key } = name as ChangeName;
  const failures = await tables.failures();
  const isUnseen = !ledger.isDone(key) && ledger.failuresOf(key) > Number(attempts);
  assert.ok(!isUnseen || failures.has(key), 'a failure that was not seen is discarded');
}

/** What must hold after each step. */
export function check(world: World): void {
  const { ledger, service, tables } = world;
  if (ledger.isForgotten) return;
  checkChanges(world);
  // A payment of an attempt exists also if its row is forgotten.
  const references = new Set([
    REFERENCE,
    ...tables.references,
    ...service.payments.map((one) => one.reference),
  ]);
  for (const reference of references) checkOne(world, reference);
  checkShown(world);
}

function checkOne(world: World, reference: string): void {
  const { ledger, service, tables } = world;
  const row = tables.row(reference);
  const ours = service.oursOf(reference);
  assert.ok(ours.length <= 1, 'two payments');
  if (ours.length > 0) {
    assert.ok(MAY_EXIST.includes(row?.state), `a payment exists, and the state is ${row?.state}`);
  }
  const isSaid = row?.referenceNumber !== undefined || row?.payment !== undefined;
  assert.ok(row?.state !== 'rejected' || !isSaid, 'what a false answer said is still shown');
  if (row === undefined) {
    assert.equal(ledger.numbersOf(reference).size, 0, 'a callback is forgotten');
    return;
  }
  const isLeased = row.owner !== undefined && (row.leaseUntilMs ?? 0) > world.turns.nowMs;
  assert.ok(row.state !== 'unresolved' || !isLeased, 'unresolved while its process may send');
  checkLooks(world, row);
  assert.equal(row.paidBy, ledger.firstPaid, 'the first paid payment pays the order');
  checkRecord(world, reference, row);
  checkHeard(world, reference, row);
  checkSecond(world, reference, row);
}

/** A callback that was answered with 200 is done or listed, and so is what has failed. */
function checkChanges({ ledger, failures, scene }: World): void {
  for (const key of [...ledger.acknowledged, ...ledger.failed.keys()]) {
    const isKnown = ledger.isDone(key) || failures.has(key) || ledger.discarded.has(key);
    assert.ok(isKnown, 'a change is neither done nor listed');
  }
  for (const [key, { attempts, parked }] of failures) {
    assert.ok(!ledger.isDone(key), 'what is done is listed as failed');
    assert.equal(attempts, ledger.failed.get(key), 'a failure is not counted');
    const isParked = attempts >= (scene.parkAfter ?? Number.POSITIVE_INFINITY);
    assert.equal(parked, isParked, 'a change is not parked after so many failures');
  }
}

/** What a look at the service finds belongs to the attempt that it was about, and delays no look that is due. */
function checkLooks(_world: World, { state, foundStatus, lookAtMs, sentAtMs = 0 }: OwnedRow): void {
  if (state === 'unheard') assert.equal(foundStatus, undefined, 'an earlier look is still shown');
  if (state === 'missed') assert.ok(foundStatus, 'missed, and nothing was found');
  if (lookAtMs === undefined || state === 'created') return;
  assert.ok(lookAtMs >= sentAtMs + 2 * LIFETIME_MS, 'a look is put off while each pass must look');
}

/** `get()` shows what the service has said last. */
function checkRecord({ ledger, tables }: World, reference: string, row: OwnedRow): void {
  const shown = tables.shown(reference);
  const { status } = JSON.parse(shown?.payment ?? '{}');
  const isOfOther = ledger.referenceOf(row.paidBy ?? '') !== reference;
  const told = ledger.toldOf(row.referenceNumber ?? '');
  const newest = newestOf(told);
  if (newest === undefined) {
    assert.ok(status === undefined || status === 'pending', 'a status of which nobody has told');
  } else {
    assert.equal(status, newest.status, 'the record is not the newest');
    assert.ok(
      row.state === 'created' || row.state === 'elsewhere',
      `a callback has come, and the state is ${row.state}`,
    );
  }
  if (row.state === 'elsewhere' && !isOfOther) {
    assert.equal(row.referenceNumber, row.paidBy, 'the payment that is shown has not paid');
  }
  if (ledger.numbersOf(reference).size === 0) return;
  assert.equal(shown?.state, 'created', 'a callback has come, and the payment is not created');
  assert.ok(row.referenceNumber, 'a callback has come, and its payment is not known');
}

/** A payment of which an answer has told is the order's own, or listed, before its first callback. */
function checkHeard({ ledger, service, tables }: World, reference: string, row: OwnedRow): void {
  for (const payment of service.payments) {
    const { number } = payment;
    if (payment.reference !== reference || !ledger.heard.has(number)) continue;
    const isOwn = row.referenceNumber === number || row.paidBy === number;
    const isListed = tables.second(payment) !== undefined || ledger.discarded.has(number);
    assert.ok(isOwn || isListed, 'a payment of which an answer has told is forgotten');
  }
}

/** Every payment beside the order's own is listed, until a person has taken it off the list. */
function checkSecond({ ledger, tables }: World, reference: string, row: OwnedRow): void {
  for (const number of ledger.numbersOf(reference)) {
    const isOwn = row.paidBy === undefined ? row.referenceNumber === number : row.paidBy === number;
    // Of an order that the store did not create, several unpaid payments are no mistake.
    const isMistake = row.state !== 'elsewhere' || ledger.paid.has(number);
    const second = tables.second({ number, reference });
    if (second === undefined) {
      const isTold = isOwn || row.referenceNumber === number || ledger.discarded.has(number);
      assert.ok(isTold || !isMistake, 'a second payment is not listed');
      if (!ledger.paid.has(number) || isOwn) continue;
      assert.ok(ledger.discarded.has(number), 'a second paid payment is not listed');
      continue;
    }
    const { status } = JSON.parse(second.payment ?? '{}');
    const newest = newestOf(ledger.toldOf(number));
    assert.equal(status, newest?.status, 'the record of a second payment is not the newest');
  }
}

/**
 * An order that follows `current` shows the newest change of the payment that has paid it, or of the only payment of its
 * latest attempt.
 */
function checkShown({ ledger, tables }: World): void {
  if (ledger.working !== undefined) return;
  const numbers = ledger.numbersOf(tables.attempts.at(-1) ?? REFERENCE);
  const [only] = numbers;
  const number = ledger.firstPaid ?? (numbers.size === 1 ? only : undefined);
  if (number === undefined) return;
  const newest = newestOf(ledger.toldOf(number));
  const done = newestOf(ledger.done.filter((one) => one.number === number));
  const isPaidDone = ledger.done.some((one) => one.number === number && isPaid(one));
  if (done === undefined || !(isPaidDone || done.key === newest?.key)) return;
  assert.deepEqual(ledger.shown, done, 'the order does not show the newest change');
}
