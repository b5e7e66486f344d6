import assert from 'node:assert/strict';
import { StoreError } from '../../src/errors.js';
import type { OwnedRow } from '../../src/store/steps.js';
import type { StoredPayment } from '../../src/store/stored-payment.js';
import { OWN } from './actors.js';
import { newestOf } from './ledger.js';
import { REFERENCE } from './tables.js';
import type { World } from './world.js';

/** What must hold when a claim of an attempt was granted. */
export function checkClaimed({ ledger }: World, before: OwnedRow | undefined): void {
  assert.equal(before?.replacedBy, undefined, 'a replaced attempt is sent');
  assert.equal(ledger.firstPaid, undefined, 'an attempt is sent although its order is paid');
}

/** What must hold when a further attempt was recorded. */
export function checkAttempts({ ledger, tables }: World, before: readonly string[]): void {
  if (ledger.isForgotten || tables.attempts.length === before.length) return;
  assert.equal(ledger.firstPaid, undefined, 'an attempt is made although its order is paid');
}

/** What must hold when a call that replaces an attempt is refused: it was not the same call that has replaced it. */
export function checkRefused(error: unknown): never {
  if (error instanceof StoreError) assert.notEqual(error.reason, 'in-use', 'refused by itself');
  throw error;
}

/** What must hold when a request leaves. */
export function checkLeft({ tables, scene, ledger }: World, reference: string): void {
  if (scene.late || ledger.isForgotten) return;
  const replacedBy = tables.row(reference)?.replacedBy;
  assert.equal(replacedBy, undefined, 'the request of a replaced attempt leaves');
}

/** What must hold of what a call for the order returns: the payment that had paid it when the call began. */
export function checkPaid(
  { triesAgain, ledger, tables }: World,
  stored: StoredPayment,
  paidBy: string | undefined,
): void {
  if (!triesAgain || ledger.isForgotten || paidBy === undefined) return;
  const reference = ledger.referenceOf(paidBy);
  assert.equal(stored.merchantPaymentReference, reference, 'a paid order shows another attempt');
  assert.equal(tables.row(reference)?.paidBy, paidBy);
}

/** What must hold of the attempts at the order after each step. */
export async function checkOrder(world: World): Promise<void> {
  const { ledger, tables, service, scene } = world;
  if (ledger.isForgotten) return;
  const { attempts } = tables;
  assert.deepEqual([...attempts].sort(), tables.references, 'an attempt is of no order');
  for (const reference of attempts) {
    const row = tables.row(reference);
    const hasPaid = ledger.firstPaid !== undefined && ledger.firstPaid === row?.referenceNumber;
    const isPayers = hasPaid || reference === REFERENCE;
    assert.ok(isPayers || !tables.hasPaid(reference), 'another attempt has paid the order');
    assert.ok(!hasPaid || tables.hasPaid(reference), 'who has paid the order is forgotten');
    if (row?.replacedBy === undefined) continue;
    const isOpen = ['recorded', 'sending', 'unresolved'].includes(row.state);
    assert.ok(!isOpen, `a replaced attempt is ${row.state}`);
    const isAwaited = !scene.late && row.state === 'rejected' && service.isAwaited(reference);
    assert.ok(!isAwaited, 'replaced although the service may still create its payment');
    const isDeclined = [...ledger.told.values()].some(
      (told) => told.reference === reference && told.status === 'declined',
    );
    const isOwn = row.replacedBy === JSON.stringify(OWN.merchantPaymentReference);
    assert.ok(isDeclined || isOwn, 'replaced although nobody has told of a decline');
  }
  if (attempts.some((one) => tables.row(one)?.state === 'sending')) return;
  await checkShownOrder(world);
}

/** `getOrder()` shows the payment that has paid the order, or else the latest attempt. */
async function checkShownOrder({ ledger, tables, plain }: World): Promise<void> {
  const { attempts } = tables;
  const shown = await plain.getOrder(REFERENCE);
  const { firstPaid } = ledger;
  const wanted = firstPaid === undefined ? attempts.at(-1) : ledger.referenceOf(firstPaid);
  assert.equal(shown?.merchantPaymentReference, wanted, 'getOrder() shows another attempt');
  for (const attempt of attempts.slice(1)) {
    assert.equal(
      await plain.getOrder(attempt),
      undefined,
      'getOrder() takes an attempt for an order',
    );
  }
}

/** An order that was declined can always be tried again, by one click. */
export async function checkTriedAgain(
  { ledger, tables, service }: World,
  click: () => Promise<StoredPayment>,
): Promise<void> {
  const before = tables.attempts;
  const { firstPaid } = ledger;
  const number = tables.row(before.at(-1))?.referenceNumber ?? '';
  const isDeclined = newestOf(ledger.toldOf(number))?.status === 'declined';
  const stored = await click();
  const isFurther = firstPaid === undefined && isDeclined;
  const { merchantPaymentReference: reference, state } = stored;
  const count = before.length + (isFurther ? 1 : 0);
  assert.equal(tables.attempts.length, count, 'a click after a decline makes one attempt');
  if (!isFurther) return;
  assert.equal(reference, tables.attempts.at(-1), 'the click shows another attempt');
  assert.equal(state, 'created', 'the further attempt is not created');
  assert.equal(service.oursOf(reference).length, 1);
}
