import assert from 'node:assert/strict';
import type { Attention } from '../../src/store/attention.js';
import type { ListedPayment, PaymentStore } from '../../src/store/payment-store.js';
import { checkReturned } from './claims.js';
import { newestOf } from './ledger.js';
import { beginCall, checkRefused, checkShownBy, checkThrown } from './order-claims.js';
import { LEASE_MS, OLD_MS } from './scene.js';
import { REFERENCE } from './tables.js';
import { orRefused, type World } from './world.js';

/** The bodies of a creation. */
export const INPUTS = {
  A: { merchantPaymentReference: REFERENCE, amount: 1, currency: 'EUR' },
  B: { merchantPaymentReference: REFERENCE, amount: 2, currency: 'EUR' },
};

/** A further attempt under a reference of the merchant's own. */
export const OWN = { ...INPUTS.A, merchantPaymentReference: 'own-1' };

type Store = PaymentStore<undefined>;

/** Lets everybody in a scene act. */
export function act(world: World): void {
  const {
    clicks = [],
    records,
    replaces,
    merchants = 1,
    recovers = 0,
    recoverers = 1,
    people = 0,
    prunes = 0,
    foreign = 0,
  } = world.scene;
  for (const place of clicks.keys()) {
    world.act(`click${place}`, (me) => click(world, me, place));
  }
  if (records) world.act('recorder', (me) => record(world, me));
  for (let place = 0; replaces && place < merchants; place += 1) {
    world.act(`merchant${place}`, (me) => replace(world, me, replaces));
  }
  for (let place = 0; recovers > 0 && place < recoverers; place += 1) {
    world.act(`recover${place}`, (me) => recover(world, me, recovers));
  }
  for (let place = 0; place < people; place += 1) {
    world.act(`person${place}`, (me) => decide(world, me));
  }
  if (prunes > 0) world.act('prune', (me) => prune(world, me, prunes));
  if (foreign > 0) world.act('program', (me) => createElsewhere(world, me, foreign));
}

async function click(world: World, me: string, place: number): Promise<void> {
  const { turns, scene, service, ledger } = world;
  const bodies = scene.clicks?.[place] ?? '';
  // Who of two equal customers comes first makes no difference.
  const isTwin = place > 0 && scene.clicks?.[place - 1] === bodies;
  const isReady = () => !isTwin || world.started.has(`click${place - 1}`);
  const store = world.store(me);
  for (const [index, body] of [...bodies].entries()) {
    await turns.start(me, `${body}${index}`, () => index > 0 || isReady());
    world.started.add(me);
    // Until when it waits for another process.
    if ((scene.clicks?.length ?? 0) > 1 || scene.recovers || scene.replaces)
      turns.mark(me, 'create', LEASE_MS);
    const begun = beginCall(world);
    const creating = store.create(INPUTS[body as 'A']).catch((error) => checkThrown(world, error));
    await orRefused(creating.then((stored) => checkReturned(world, stored, { body, begun })));
    const number = service.answered.get(me);
    if (number !== undefined) ledger.heard.add(number);
  }
}

async function record(world: World, me: string): Promise<void> {
  const store = world.store(me);
  await orRefused(store.record(INPUTS.A, { tx: undefined }));
  await world.turns.start(me, 'send', () => true);
  const begun = beginCall(world);
  await orRefused(store.send(REFERENCE).then((stored) => checkShownBy(world, stored, begun)));
}

async function replace(world: World, me: string, how: 'create' | 'record'): Promise<void> {
  const store = world.store(me);
  world.turns.mark(me, 'create', LEASE_MS);
  const begin = () =>
    how === 'create'
      ? store.create(OWN, { replaces: REFERENCE })
      : store.record(OWN, { tx: undefined, replaces: REFERENCE });
  await orRefused(Promise.resolve(begin()).catch(checkRefused));
  if (how === 'create') return;
  world.turns.begin(me, 'recorded');
  await orRefused(store.send(OWN.merchantPaymentReference).catch(checkRefused));
}

async function recover(world: World, me: string, times: number): Promise<void> {
  const { turns, service, scene } = world;
  const store = world.store(me);
  const lookUp = async (reference: string) => {
    const how = await turns.step(me, () => ['looks', ...(scene.looksInVain ? ['fails'] : [])]);
    if (how === 'fails') return undefined;
    const found = service.find(reference);
    turns.note(me, found);
    if (found === undefined) return 'not-created' as const;
    return scene.looksUp === 'status' ? found : { referenceNumber: found.referenceNumber };
  };
  for (let count = 0; count < times; count += 1) {
    turns.begin(me, String(count));
    await orRefused(store.recover(scene.looksUp ? { lookUp } : {}));
  }
}

/** A person looks at the list, then at the service, and later decides. */
async function decide(world: World, me: string): Promise<void> {
  const { turns, scene } = world;
  const store = world.store(me);
  turns.begin(me);
  const isOpen = () => ['sending', 'unresolved'].includes(world.tables.row()?.state ?? '');
  const isReady = () => (scene.handmade ? isOpen() : world.mayList);
  await turns.step(me, () => (isReady() ? ['lists'] : []));
  const items = scene.handmade ? [] : await world.listed();
  turns.mark(me, 'list', OLD_MS);
  turns.note(me, items.map(describe));
  if (items.length === 0 && !scene.handmade) return;
  const kinds = items.map(({ kind }) => `takes ${kind}`);
  const taken = kinds.length > 1 ? await turns.step(me, () => kinds) : kinds[0];
  const item = items[kinds.indexOf(taken ?? '')] ?? handmade(world);
  const claims = world.ledger.claimsOf(item.merchantPaymentReference);
  await decideOne(world, me, { store, item, claims });
}

function handmade({ tables }: World): Attention {
  const attempts = tables.row()?.attempts;
  return { kind: 'unresolved', merchantPaymentReference: REFERENCE, attempts } as never;
}

function describe(item: Attention): unknown {
  switch (item.kind) {
    case 'second-payment':
      return [item.kind, item.payment];
    case 'failed-change':
      return [item.kind, item.key, item.attempts, item.parked];
    default:
      return [item.kind, item.attempts, item.stored?.state];
  }
}

interface Choice {
  readonly store: Store;
  readonly item: Attention;
  /** How many claims of its reference were granted when it was listed. */
  readonly claims: number;
}

async function decideOne(world: World, me: string, choice: Choice): Promise<void> {
  const { turns, deliveries, ledger } = world;
  const { item } = choice;
  switch (item.kind) {
    case 'second-payment':
      return discard(world, choice);
    case 'failed-change': {
      const how = await turns.step(me, () => ['replays', 'discards']);
      if (how === 'discards') return discard(world, choice);
      const change = ledger.told.get(item.key);
      if (change !== undefined) await deliveries.process(me, change, true);
      return;
    }
    default:
      return look(world, me, choice);
  }
}

async function look(world: World, me: string, choice: Choice): Promise<void> {
  const { turns, service, scene, ledger } = world;
  const { store, item } = choice;
  const isHasty = scene.hasty === true && item.kind === 'no-callback';
  if ((await turns.step(me, () => ['looks', ...(isHasty ? ['drops'] : [])])) === 'drops') {
    ledger.isDropped = true;
    return discard(world, choice);
  }
  const { merchantPaymentReference: reference } = item;
  const found = service.find(reference);
  turns.note(me, found);
  ledger.isMarked = true;
  if (found === undefined) {
    if (scene.handmade) await turns.step(me, () => ['decides']);
    const listed = item as ListedPayment;
    const given = scene.handmade ? { ...listed, listedAt: new Date(turns.nowMs) } : listed;
    await orRefused(store.markNotCreated(given));
  } else if (item.kind === 'no-callback') await discard(world, choice);
  else await orRefused(store.markCreated(reference, found));
}

/** What has changed since it was listed must not be discarded. */
async function discard(world: World, { store, item, claims }: Choice): Promise<void> {
  const { tables, ledger } = world;
  const isDone = await orRefused(store.discard(item));
  if (!isDone) return;
  if (item.kind === 'second-payment' && !ledger.discarded.has(item.referenceNumber)) {
    const newest = newestOf(ledger.toldOf(item.referenceNumber));
    assert.equal(item.payment.status, newest?.status, 'what has changed since is discarded');
    ledger.discarded.add(item.referenceNumber);
  }
  if (item.kind === 'failed-change') ledger.discarded.add(item.key);
  const { merchantPaymentReference: reference } = item;
  const row = tables.row(reference);
  if (item.kind !== 'no-callback' || ledger.claimsOf(reference) === claims) return;
  assert.notEqual(row?.state, 'created', 'a decision about an earlier attempt counts');
}

async function prune(world: World, me: string, times: number): Promise<void> {
  const { turns, scene, tables, ledger, plain } = world;
  for (let count = 0; count < times; count += 1) {
    const isReady = () => scene.prunesYoung === true || turns.nowMs >= OLD_MS;
    await turns.step(me, () => (isReady() ? ['prunes'] : []));
    const before = await world.listed();
    const rows = tables.references.map((reference) => tables.row(reference));
    const keptMs = scene.prunesYoung ? 0 : OLD_MS;
    ledger.pruned.push(await plain.prune(new Date(turns.nowMs - keptMs + 1)));
    const kept = before.filter(({ kind }) => kind !== 'no-callback').map(describe);
    const after = (await world.listed()).map(describe);
    for (const one of kept) {
      const isKept = after.some((other) => JSON.stringify(other) === JSON.stringify(one));
      assert.ok(isKept, 'prune forgets what attention() lists');
    }
    const left = tables.references.length;
    assert.ok([0, rows.length].includes(left), 'prune forgets a part of an order');
    if (left === rows.length) continue;
    for (const row of rows) {
      assert.ok(Number(row?.changedAtMs) <= turns.nowMs - keptMs, 'prune forgets what is young');
    }
    assert.deepEqual(kept, [], 'prune forgets the payment of what attention() lists');
    ledger.isForgotten = !scene.prunesYoung;
  }
}

async function createElsewhere({ turns, service }: World, me: string, count: number) {
  for (let index = 0; index < count; index += 1) {
    turns.begin(me, String(index));
    await turns.step(me, () => ['creates']);
    service.create(false);
  }
}
