import assert from 'node:assert/strict';
import type { Attention } from '../../src/store/attention.js';
import { INPUTS, OWN } from './actors.js';
import { check } from './claims.js';
import { checkOrder, checkTriedAgain } from './order-claims.js';
import { REFERENCE } from './tables.js';
import { orRefused, type World } from './world.js';

/** Everybody has gone. One person and `recover` bring whatever is left to an end in which nothing is open. */
export async function checkEnd(world: World): Promise<void> {
  const { turns, plain, ledger, service, tables, scene } = world;
  if (ledger.isForgotten) return;
  const before = states(world);
  turns.nowMs += 100_000;
  for (let count = 0; count < 3; count += 1) {
    for (const item of await world.listed()) await clear(world, item);
    await orRefused(plain.recover());
  }
  assert.deepEqual(await world.listed(), [], 'something stays on the list');
  const isUsed = (scene.clicks ?? []).length > 0;
  const latest = tables.row(tables.attempts.at(-1));
  const input = latest?.body.includes('"amount":2') ? INPUTS.B : INPUTS.A;
  if (isUsed && world.triesAgain) await checkTriedAgain(world, () => plain.create(input));
  else if (isUsed) await orRefused(plain.create(input));
  if (scene.replaces) await orRefused(plain.create(OWN, { replaces: REFERENCE }));
  checkEnded(world, isUsed, before);
  if (isUsed && !ledger.isDropped) {
    assert.ok(service.payments.length > 0, 'created, and there is no payment');
  }
  for (const { key } of ledger.told.values()) {
    assert.ok(ledger.isDone(key) || ledger.discarded.has(key), 'a change is not done in the end');
  }
  world.failures = await tables.failures();
  check(world);
  await checkOrder(world);
}

const states = ({ tables }: World) => tables.attempts.map((one) => tables.row(one)?.state).join();

/** Nothing is open. Only an attempt that is over, by another one or because the order is paid, may not be created. */
function checkEnded({ tables, ledger, service }: World, isUsed: boolean, before: string): void {
  const { attempts } = tables;
  for (const reference of attempts.length > 0 ? attempts : [undefined]) {
    const row = tables.row(reference);
    const isOver = row?.replacedBy !== undefined || (ledger.firstPaid !== undefined && row?.order);
    const ends = [
      'unheard',
      'created',
      'elsewhere',
      ...(isUsed && !isOver ? [] : ['rejected', undefined]),
    ];
    assert.ok(ends.includes(row?.state), `stuck in ${row?.state}, before ${before}`);
    const isRefused = service.hasRefused || ledger.isMarked || isOver;
    assert.ok(row?.state !== 'rejected' || isRefused, 'rejected, and nobody has refused it');
  }
}

async function clear({ plain, service, ledger, deliveries }: World, item: Attention) {
  const { merchantPaymentReference: reference } = item;
  switch (item.kind) {
    case 'failed-change': {
      const change = ledger.told.get(item.key);
      assert.ok(change, 'a change is listed that never came');
      await deliveries.process('person', change, true);
      return;
    }
    case 'second-payment':
      ledger.discarded.add(item.referenceNumber);
      return plain.discard(item);
    case 'no-callback':
      ledger.isMarked = true;
      if (service.find(reference) === undefined) await plain.markNotCreated(item);
      else await plain.discard(item);
      return;
    default: {
      const found = service.find(reference);
      ledger.isMarked = true;
      if (found === undefined) await plain.markNotCreated(item);
      else await plain.markCreated(reference, found);
    }
  }
}
