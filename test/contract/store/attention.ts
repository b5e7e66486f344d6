import { randomUUID } from 'node:crypto';
import { assert, expect } from 'vitest';
import type { Attention, AttentionKind } from '../../../src/store/attention.js';
import type { PaymentStore } from '../../../src/store/payment-store.js';
import { oddNames } from '../odd-names.js';
import type { It } from './callback-stage.js';
import { createPayment, seconds } from './changes.js';
import {
  assertPayment,
  collect,
  createInput,
  ofKind,
  referencesOf,
  rejectsWith,
  type Stage,
} from './stage.js';

const KINDS = ['unresolved', 'second-payment', 'failed-change', 'no-callback'] as const;

/** Makes one item of a kind, and returns the reference of its order. */
const makers: Readonly<
  Record<AttentionKind, (stage: Stage, store: PaymentStore<unknown>) => Promise<string>>
> = {
  async unresolved(stage, store) {
    const { reference } = await stage.createUnresolved(store);
    await stage.outlive(reference);
    return reference;
  },
  async 'second-payment'(stage, store) {
    const { first: change, other: second } = await stage.createKnown(store);
    await stage.deliver(store, change()).answers('processed');
    await stage.deliver(store, second()).answers('processed');
    return second().payment.merchantPaymentReference;
  },
  async 'failed-change'(stage, store) {
    const change = createPayment()();
    await stage.deliverFailing(store, change).rejects();
    return change.payment.merchantPaymentReference;
  },
  async 'no-callback'(stage, store) {
    const { first: change } = await stage.createKnown(store);
    return change().payment.merchantPaymentReference;
  },
};

/** What needs a person is listed. */
export function testAttention(it: It<Stage>): void {
  it('lists what needs a person in the order of the kinds, or in the order asked for', async (stage) => {
    const store = await stage.openPayments();
    const mine = new Set<string>();
    for (const kind of KINDS) mine.add(await makers[kind](stage, store));
    const kindsOf = async (options: object) => {
      const items = await collect((await stage.openManaged()).attention(options));
      // In one piece for each kind.
      const inPieces = (all: readonly Attention[]) =>
        all.map(({ kind }) => kind).filter((kind, index, kinds) => kind !== kinds[index - 1]);
      const pieces = inPieces(items);
      expect(new Set(pieces).size).toBe(pieces.length);
      // Those of other cases may be older.
      return inPieces(items.filter((item) => mine.has(item.merchantPaymentReference)));
    };
    expect(await kindsOf({})).toStrictEqual(KINDS.slice(0, 3));
    expect(await kindsOf({ olderThanMs: 0 })).toStrictEqual(KINDS);
    const asked = ['failed-change', 'unresolved'] as const;
    expect(await kindsOf({ kinds: asked })).toStrictEqual(asked);
    expect(await kindsOf({ kinds: [] })).toStrictEqual([]);
  });
  it('lists the oldest of each kind first, with since when, up to a limit over all kinds', async (stage) => {
    const store = await stage.openPayments();
    for (const kind of KINDS) {
      const mine: string[] = [];
      for (let count = 0; count < 3; count += 1) mine.push(await makers[kind](stage, store));
      const all = await collect(store.attention({ kinds: [kind], olderThanMs: 0 }));
      const references = referencesOf(all).filter((reference) => mine.includes(reference));
      expect(references.sort()).toStrictEqual(mine.sort());
      // Those with a status that lookUp has found come first.
      const times = all
        .filter((item) => !('foundStatus' in item))
        .map(({ since }) => Number(since));
      expect(times).toStrictEqual(times.toSorted((one, other) => one - other));
    }
    const all = await collect(store.attention({ olderThanMs: 0 }));
    const unresolved = ofKind('unresolved', all).length;
    for (const limit of [1, unresolved, unresolved + 1, all.length]) {
      const some = await collect(store.attention({ olderThanMs: 0, limit }));
      const placesOf = (items: readonly Attention[]) =>
        items.map(({ listedAt: _, ...item }) => item);
      expect(placesOf(some)).toStrictEqual(placesOf(all.slice(0, limit)));
    }
  });
  it('says of each item when it was listed, and lists none that is younger than asked for', async (stage) => {
    const store = await stage.openPayments();
    for (const kind of KINDS) {
      const reference = await makers[kind](stage, store);
      const one = await stage.itemOf(kind, reference);
      const other = await stage.itemOf(kind, reference);
      assert(one !== undefined && other !== undefined);
      expect(Number(one.listedAt)).toBeGreaterThanOrEqual(Number(one.since));
      expect(Number(other.listedAt)).toBeGreaterThanOrEqual(Number(one.listedAt));
      const options = { kinds: [kind], olderThanMs: 864_000_000_000 };
      expect(await stage.attentionTo(reference, options)).toStrictEqual([]);
    }
  });
  it('lists a payment without a callback only after a while, and no longer once one has come', async (stage) => {
    const store = await stage.openPayments();
    const { first: change, other: second } = await stage.createKnown(store);
    const { merchantPaymentReference: reference, referenceNumber } = change().payment;
    expect(await stage.attentionTo(reference)).toStrictEqual([]);
    const item = await stage.itemOf('no-callback', reference);
    assertPayment(item?.stored, { state: 'created', referenceNumber });
    expect(item?.since).toStrictEqual(item?.stored.changedAt);
    // That of another payment says nothing about this one.
    await stage.deliver(store, second()).answers('processed');
    expect(await stage.itemOf('no-callback', reference)).toBeDefined();
    // The work has nothing to do with it.
    await stage.deliverFailing(store, change()).rejects();
    expect(await stage.itemOf('no-callback', reference)).toBeUndefined();
  });
  it('waits for a callback also if a person found the payment, or its answer was lost', async (stage) => {
    const store = await stage.openPayments();
    const lost = await stage.createUnresolved(store);
    const { referenceNumber } = lost;
    await store.markCreated(lost.reference, { referenceNumber });
    const { input, reference } = await stage.payment();
    stage.service.answer(reference, 'body-lost');
    await store.create(input);
    for (const one of [lost.reference, reference]) {
      assertPayment(await store.get(one), { state: 'created' });
      expect(await stage.itemOf('no-callback', one)).toBeDefined();
      const [number] = stage.service.paymentsOf(one);
      await stage.pay(store, one, number);
      expect(await stage.itemOf('no-callback', one)).toBeUndefined();
    }
  });
  it('stops waiting for a callback that a person has discarded, which changes nothing else', async (stage) => {
    const store = await stage.openPayments();
    const { first: change } = await stage.createKnown(store);
    const { merchantPaymentReference: reference, referenceNumber } = change().payment;
    const item = await stage.itemOf('no-callback', reference);
    assert(item !== undefined);
    await rejectsWith(store.discard({ ...item, attempts: 2 }), 'STATE_CHANGED');
    expect(await stage.itemOf('no-callback', reference)).toBeDefined();
    for (let time = 0; time < 2; time += 1) await store.discard(JSON.parse(JSON.stringify(item)));
    expect(await stage.itemOf('no-callback', reference)).toBeUndefined();
    assertPayment(await store.get(reference), { state: 'created', referenceNumber });
    await stage.deliver(store, change({ status: 'paid' })).runsWith({ current: true });
    assertPayment(await store.get(reference), { status: 'paid' });
    await store.discard(item);
  });
  it('discards a second payment unless its record has changed since, and lists it again when it does', async (stage) => {
    const store = await stage.openPayments();
    const { other: second } = await stage.createKnown(store);
    const { merchantPaymentReference: reference } = second().payment;
    await stage.deliver(store, second()).answers('processed');
    const seen = await stage.itemOf('second-payment', reference);
    await stage
      .deliver(store, second({ updatedAt: seconds(1), status: 'paid' }))
      .answers('processed');
    assert(seen !== undefined);
    await rejectsWith(store.discard(seen), 'STATE_CHANGED');
    const now = await stage.itemOf('second-payment', reference);
    assert(now !== undefined);
    expect(now.payment.status).toBe('paid');
    expect(now.since).toStrictEqual(seen.since);
    for (let time = 0; time < 2; time += 1) await store.discard(now);
    expect(await stage.itemOf('second-payment', reference)).toBeUndefined();
    const refunded = second({ updatedAt: seconds(2), status: 'refunded' });
    await stage.deliver(store, refunded).runsWith({ secondPayment: true });
    const again = await stage.itemOf('second-payment', reference);
    expect(again?.payment.status).toBe('refunded');
  });
  it('discards no unresolved payment, and nothing that it has not listed', async (stage) => {
    const store = await stage.openPayments();
    const reference = await makers.unresolved(stage, store);
    const [item] = await stage.attentionTo(reference);
    for (const wrong of [item, undefined, null, {}, { kind: 'paid' }, reference]) {
      await rejectsWith(store.discard(wrong as Attention), 'INVALID_OPTION');
    }
    assertPayment(await store.get(reference), { state: 'unresolved' });
  });
  it('refuses to discard a part of an item, and names the field that is missing', async (stage) => {
    const store = await stage.openPayments();
    const names = {
      merchantPaymentReference: 'order-1',
      referenceNumber: 'payment-1',
      key: 'payment-1.paid.1',
    };
    for (const [kind, ...fields] of [
      ['failed-change', 'merchantPaymentReference', 'referenceNumber', 'key', 'attempts'],
      ['second-payment', 'merchantPaymentReference', 'referenceNumber', 'payment'],
      ['no-callback', 'merchantPaymentReference', 'attempts'],
    ] as const) {
      const item = { kind, ...names, attempts: 1, payment: { status: 'paid' } };
      await store.discard(item as unknown as Attention);
      for (const field of fields) {
        for (const value of [undefined, '', 7.5]) {
          const part = { ...item, [field]: value } as unknown as Attention;
          const error = await rejectsWith(store.discard(part), 'INVALID_OPTION');
          expect(error).toMatchObject({ option: `item.${field}` });
        }
      }
    }
  });
  it('lists and discards items whatever characters their references contain', async (stage) => {
    const store = await stage.openPayments();
    for (const name of oddNames(randomUUID()).filter((one) => one.isWellFormed())) {
      const input = createInput({ merchantPaymentReference: name });
      await store.create(input);
      const other = createPayment({ merchantPaymentReference: name, referenceNumber: `${name}2` });
      await stage.deliver(store, other()).runsWith({ secondPayment: true });
      for (const kind of ['second-payment', 'no-callback'] as const) {
        const item = await stage.itemOf(kind, name);
        assert(item !== undefined);
        await store.discard(item);
        expect(await stage.itemOf(kind, name)).toBeUndefined();
      }
    }
  });
}

/** Lists are read in pages. */
export function testPages(it: It<Stage>): void {
  it('lists more than a page of unresolved payments, and of those without a callback', async (stage) => {
    const store = await stage.openPayments();
    const mine = new Set<string>();
    for (const kind of ['unresolved', 'no-callback'] as const) {
      const make = kind === 'unresolved' ? 'createUnresolved' : 'createKnown';
      const createOne = async () => mine.add((await stage[make](store)).reference);
      for (let round = 0; round < 13; round += 1) {
        await Promise.all(Array.from({ length: 10 }, createOne));
      }
      // One after the other: a store's hook may write to all rows, and two such statements can lock each other out.
      if (kind === 'unresolved') for (const reference of mine) await stage.outlive(reference);
      const listed = await collect(store.attention({ kinds: [kind], olderThanMs: 0 }));
      const found = listed.filter((item) => mine.has(item.merchantPaymentReference));
      expect(found.length).toBe(130);
      expect(new Set(referencesOf(listed)).size).toBe(listed.length);
    }
  });
  it('lists more than a page of second payments, each once', async (stage) => {
    const store = await stage.openPayments();
    const { first: change } = await stage.createKnown(store);
    const { merchantPaymentReference: reference } = change().payment;
    const numbers = Array.from({ length: 130 }, () => randomUUID());
    for (const number of numbers) await stage.pay(store, reference, number);
    const listed = ofKind('second-payment', await stage.attentionTo(reference));
    expect(listed.map((item) => item.referenceNumber).sort()).toStrictEqual(numbers.sort());
  });
  it('lists more than a page of failed changes, each once, also while they are discarded', async (stage) => {
    const store = await stage.openPayments();
    const change = createPayment();
    const { referenceNumber } = change().payment;
    const keys = Array.from({ length: 130 }, () => randomUUID());
    for (const key of keys) await stage.deliverFailing(store, change({ key })).rejects();
    const listed: string[] = [];
    for await (const item of store.attention({ referenceNumber })) {
      assert(item.kind === 'failed-change');
      listed.push(item.key);
      await store.discard(item);
    }
    expect(listed.sort()).toStrictEqual(keys.sort());
    expect(await collect(store.attention({ referenceNumber }))).toStrictEqual([]);
  });
}
