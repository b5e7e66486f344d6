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

/** What must hold when a click is refused: another body was sent, or is to be. */
export function checkThrown({ ledger, scene }: World, error: unknown): never {
  if (error instanceof StoreError && !ledger.isForgotten && !scene.slowClaims) {
    assert.equal(error.code, 'REFERENCE_CONFLICT', `a click is refused: ${error.code}`);
  }
  throw error;
}

/** The same of a call that replaces an attempt: it was not the same call that has replaced it. */
export function checkRefused(error: unknown): never {
  if (error instanceof StoreError) {
    const isSaid = ['NOT_REPLACEABLE', 'UNKNOWN_REFERENCE'].includes(error.code);
    assert.ok(isSaid, `a call that replaces is refused: ${error.code}`);
    assert.notEqual(error.reason, 'in-use', 'refused by itself');
  }
  throw error;
}

/** What must hold when a request leaves. */
export function checkLeft({ tables, scene, ledger }: World, reference: string): void {
  if (scene.late || ledger.isForgotten) return;
  const replacedBy = tables.row(reference)?.replacedBy;
  assert.equal(replacedBy, undefined, 'the request of a replaced attempt leaves');
}

/** What an order was when a call for it began. */
export interface Begun {
  readonly atMs: number;
  /** The payment that had paid it. */
  readonly paidBy: string | undefined;
  /** The reference of its latest attempt. */
  readonly latest: string;
}

export function beginCall({ turns, ledger, tables }: World): Begun {
  const { firstPaid: paidBy } = ledger;
  return { atMs: turns.nowMs, paidBy, latest: tables.attempts.at(-1) ?? '' };
}

/** What must hold of what a call for the order returns: the payment that has paid it, or an attempt that is not older. */
export function checkShownBy(
  { triesAgain, ledger, tables }: World,
  { merchantPaymentReference: shown }: StoredPayment,
  { paidBy, latest }: Begun,
): void {
  if (!triesAgain || ledger.isForgotten) return;
  const payer = ledger.referenceOf(ledger.firstPaid ?? '');
  if (paidBy !== undefined) assert.equal(shown, payer, 'a paid order shows another attempt');
  const { attempts } = tables;
  const isOlder = attempts.indexOf(shown) < attempts.indexOf(latest);
  assert.ok(shown === payer || !isOlder, 'a call for the order shows an older attempt');
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
  const payer = ledger.referenceOf(firstPaid ?? '');
  assert.equal(reference, payer ?? tables.attempts.at(-1), 'the click shows another attempt');
  if (!isFurther) return;
  assert.equal(state, 'created', 'the further attempt is not created');
  assert.equal(service.oursOf(reference).length, 1);
}
