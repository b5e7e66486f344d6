import assert from 'node:assert/strict';
import { ConnectionError, MerchantPaymentsError } from '../../src/errors.js';
import { resolveOptions } from '../../src/protocol/options.js';
import { PREPARE_CREATION } from '../../src/protocol/prepared-creation.js';
import type { Backend } from '../../src/store/backend.js';
import type { StoreContext } from '../../src/store/callback-store.js';
import { createStore } from '../../src/store/create-store.js';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import { storeRules } from '../../src/store/options.js';
import type { Claim } from '../../src/store/payment-row.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import type { OwnedRow } from '../../src/store/steps.js';
import type { StoredPayment } from '../../src/store/stored-payment.js';
import type { Play } from './explorer.js';
import { OrderLedger } from './order-ledger.js';
import type { OrderScene } from './order-scenes.js';
import { LEASE_MS, LIFETIME_MS } from './scene.js';
import { type Step, Turns } from './turns.js';
import { orRefused } from './world.js';

export const ORDER = 'order-1';
const INPUT = { merchantPaymentReference: ORDER, amount: 1, currency: 'EUR' };
const OWN = { ...INPUT, merchantPaymentReference: 'own', amount: 2 };
const LIMITS = { maxEntries: 1_000, retentionMs: 1_000_000_000 };
const READS: readonly PropertyKey[] = ['list', 'listDue', 'read', 'readOrder'];

type Store = PaymentStore<undefined>;

/** A payment at the service, and the changes of which it tells. */
interface Payment {
  readonly number: string;
  readonly reference: string;
}

class OrderTables extends MemoryBackend {
  /** From the first attempt to the latest. */
  attempts(): readonly (OwnedRow & { readonly reference: string })[] {
    const found: (OwnedRow & { readonly reference: string })[] = [];
    for (let reference: string | undefined = ORDER; reference !== undefined; ) {
      const row = this.rows.get(reference);
      if (row === undefined) break;
      found.push({ ...row, reference });
      reference = row.replacedBy === undefined ? undefined : JSON.parse(row.replacedBy);
    }
    return found;
  }

  get count(): number {
    return this.rows.size;
  }

  isSecond({ number, reference }: Payment): boolean {
    return this.secondOf(reference, { referenceNumber: number } as never) !== undefined;
  }
}

/** One order with several attempts, and everything that acts on it. */
export class OrderWorld implements Play {
  readonly turns = new Turns();
  readonly tables = new OrderTables({ ...LIMITS, now: () => this.turns.nowMs });
  readonly ledger = new OrderLedger();
  readonly payments: Payment[] = [];
  readonly scene: OrderScene;
  /** A store whose steps are taken at once. */
  readonly plain: Store;
  #crashesLeft: number;
  #failures = 0;
  readonly #errors: unknown[] = [];

  constructor(scene: OrderScene) {
    this.scene = scene;
    this.plain = this.#open('plain', this.tables);
    this.#crashesLeft = scene.crashes ?? 0;
    for (let tab = 0; tab < scene.tabs; tab += 1) {
      this.#act(`tab${tab}`, (me) => this.#click(me, tab));
    }
    if (scene.replaces) this.#act('own', (me) => this.#replace(me));
    if (scene.recovers) this.#act('recover', (me) => this.#recover(me));
  }

  #act(name: string, run: (name: string) => Promise<void>): void {
    run(name).catch((error) => this.#errors.push(error));
  }

  /** The first tab, in which the customer clicks, and again after a decline; or another one, left open until then. */
  async #click(me: string, tab: number): Promise<void> {
    const store = this.#open(me, this.#inSteps(me));
    for (const click of tab === 0 ? [0, 1] : [1]) {
      const isReady = () => click === 0 || this.ledger.isDeclined;
      await this.turns.start(me, String(click), isReady);
      const { firstPaid } = this.ledger;
      if (this.scene.records) {
        if (!(await orRefused(store.record(INPUT, { tx: undefined })))) continue;
        this.turns.begin(me, `recorded ${click}`);
      }
      const call = this.scene.records ? store.send(ORDER) : store.create(INPUT);
      await orRefused(call.then((stored) => this.#checkReturned(stored, firstPaid)));
    }
  }

  #checkReturned({ state, ...stored }: StoredPayment, paidBefore: string | undefined): void {
    if (paidBefore === undefined) return;
    const payment = this.payments.find(({ number }) => number === paidBefore);
    assert.equal(state, 'created', 'a click on a paid order returns another state');
    const shown = stored.merchantPaymentReference;
    assert.equal(shown, payment?.reference, 'a click on a paid order returns another attempt');
  }

  /** The merchant takes a reference of its own, whenever the order has a payment. */
  async #replace(me: string): Promise<void> {
    const store = this.#open(me, this.#inSteps(me));
    await this.turns.start(me, '', () => this.tables.count > 0);
    await orRefused(store.create(OWN, { replaces: ORDER }));
  }

  async #recover(me: string): Promise<void> {
    const store = this.#open(me, this.#inSteps(me));
    await this.turns.start(me, '', () => this.tables.count > 0);
    await orRefused(store.recover());
  }

  #open(actor: string, backend: Backend<undefined>): Store {
    const client = {
      payments: { create: () => assert.fail('a store prepares what it sends') },
      [PREPARE_CREATION]: (input: typeof INPUT) => ({
        body: JSON.stringify(input),
        timeoutMs: LEASE_MS,
        send: () => this.#send(actor, input.merchantPaymentReference),
      }),
    };
    const { declined = ['declined'] } = this.scene;
    const options = { client, declined, leaseMs: LEASE_MS, requestLifetimeMs: LIFETIME_MS };
    return createStore(backend, resolveOptions(options as never, storeRules)) as Store;
  }

  #inSteps(actor: string): Backend<undefined> {
    return new Proxy<Backend<undefined>>(this.tables, {
      get: (target, name) => {
        const method = Reflect.get(target, name, target);
        if (typeof method !== 'function' || name === 'process') return method;
        return async (...args: unknown[]) => {
          if (!READS.includes(name)) await this.turns.step(actor, () => [String(name)]);
          const result = await method.apply(target, args);
          this.turns.note(actor, [name, result?.granted, result?.refused, result?.key]);
          if (name === 'claim' && result.granted) this.#checkGranted(args[0] as Claim);
          return result;
        };
      },
    });
  }

  /** Nothing is sent for an order that is paid, nor for an attempt that was replaced. */
  #checkGranted({ key }: Claim): void {
    const attempt = this.tables.attempts().find(({ reference }) => reference === key);
    assert.ok(attempt, 'an attempt is sent that is none of its order');
    assert.equal(attempt.replacedBy, undefined, 'an attempt is sent that was replaced');
    const others = this.tables.attempts().filter(({ reference }) => reference !== key);
    const isOpen = others.some(({ state }) => state === 'sending' || state === 'unresolved');
    assert.ok(!isOpen, 'an attempt is sent while the service may create another');
    assert.equal(this.ledger.firstPaid, undefined, 'an attempt is sent although its order is paid');
  }

  async #send(actor: string, reference: string): Promise<unknown> {
    const act = await this.turns.step(actor, () => ['creates', 'has no connection']);
    if (act !== 'creates') throw new ConnectionError('not sent', { requestOutcome: 'not-sent' });
    const number = `payment-${this.payments.length + 1}`;
    const changes = this.scene.changes[this.payments.length] ?? ['paid'];
    this.payments.push({ number, reference });
    for (const [at, status] of changes.entries()) {
      const name = `${number} ${status}`;
      this.#act(name, () => this.#deliver(name, { number, reference }, { status, at }));
    }
    const heard = await this.turns.step(actor, () => [
      'answer',
      ...(this.scene.loses ? ['lost'] : []),
    ]);
    if (heard === 'lost') throw new ConnectionError('lost', { requestOutcome: 'unknown' });
    const record = { referenceNumber: number, merchantPaymentReference: reference };
    return { payment: { ...record, status: 'pending' } };
  }

  /** A change is delivered until it is acknowledged, and once more. */
  async #deliver(
    me: string,
    payment: Payment,
    { status, at }: { readonly status: string; readonly at: number },
  ): Promise<void> {
    const { ledger, turns } = this;
    const record = {
      referenceNumber: payment.number,
      merchantPaymentReference: payment.reference,
      status,
      updatedAt: `2026-01-01T00:00:0${at}Z`,
    };
    for (let isRepeated = false; ; ) {
      turns.begin(me, isRepeated ? 'again' : '');
      await turns.step(me, () => (ledger.mayArrive(payment.number, at) ? ['arrives'] : []));
      ledger.tell(payment.number, { status, at });
      const work = (context: StoreContext<undefined>) =>
        this.#work(me, { ...payment, status }, context);
      try {
        const outcome = await this.plain.process({ key: me, payment: record }, work);
        if (outcome === 'busy') continue;
      } catch (error) {
        if (error instanceof MerchantPaymentsError) throw error;
        continue;
      }
      if (isRepeated) return;
      isRepeated = true;
    }
  }

  async #work(
    me: string,
    { number, reference, status }: Payment & { readonly status: string },
    { order, current, secondPayment }: StoreContext<undefined>,
  ): Promise<void> {
    const { ledger, turns, tables } = this;
    assert.equal(ledger.working, undefined, 'the work of two attempts of an order at once');
    assert.equal(order, ORDER, 'the work is told of another order');
    const isOther = ledger.firstPaid !== undefined && ledger.firstPaid !== number;
    const isTold = secondPayment || !(isOther && status === 'paid');
    assert.ok(isTold, 'the work is not told of a second payment');
    assert.ok(
      !(secondPayment && ledger.firstPaid === number),
      'the first payment is called second',
    );
    if (isOther) assert.ok(!current, 'current, although another attempt has paid the order');
    const latest = tables.attempts().at(-1)?.reference;
    const isUnpaid = ledger.firstPaid === undefined;
    if (isUnpaid) assert.ok(!current || latest === reference, 'current, although it was replaced');
    ledger.working = me;
    const mayFail = this.#failures < (this.scene.failures ?? 0);
    const did = await turns.step(me, () => ['works', ...(mayFail ? ['throws'] : [])]);
    ledger.working = undefined;
    if (did === 'throws') {
      this.#failures += 1;
      throw new Error('the work fails');
    }
    if (status === 'paid' && !secondPayment) ledger.fulfilled.add(number);
  }

  /** A timer of the store's: it waits for another call that sends the payment. Returns what ends it. */
  wait(go: () => void, ms: number): () => void {
    const { turns } = this;
    let isEnded = false;
    const end = () => {
      isEnded = true;
    };
    if (ms > LEASE_MS) return end;
    if (turns.isAuto) {
      turns.nowMs += ms;
      queueMicrotask(go);
      return end;
    }
    const atMs = turns.nowMs;
    const isSending = () => this.tables.attempts().at(-1)?.state === 'sending';
    const labels = () => (!isEnded && (!isSending() || turns.nowMs > atMs) ? ['wakes'] : []);
    void turns.step(turns.current, labels, { isNoted: false }).then(go);
    return end;
  }

  more(isReplay: boolean): readonly Step[] {
    const { turns, tables } = this;
    const dying =
      this.#crashesLeft > 0 ? turns.waiting.filter((one) => /^(tab|own)/.test(one)) : [];
    const deaths = dying.map((actor) => ({
      label: `${actor} dies`,
      take: () => {
        this.#crashesLeft -= 1;
        turns.kill(actor);
      },
    }));
    const hasLease = tables.attempts().some(({ state }) => state === 'sending');
    const isDead = this.#crashesLeft < (this.scene.crashes ?? 0);
    if (!isReplay && !(hasLease && isDead)) return deaths;
    const take = () => {
      turns.nowMs += LEASE_MS;
    };
    return [...deaths, { label: 'time passes', take }];
  }

  async state(): Promise<string> {
    const { turns } = this;
    const rows = this.tables.attempts().map((row) => {
      const { body, digest, recordedAtMs, changedAtMs, sentAtMs, lookAtMs, ...rest } = row;
      return { ...rest, leaseUntilMs: turns.ageOf(row.leaseUntilMs, 0) };
    });
    const seconds = this.payments.map((payment) => this.tables.isSecond(payment));
    const { payments, ledger } = this;
    return JSON.stringify([rows, seconds, payments, ledger, this.#crashesLeft, this.#failures]);
  }

  async check(): Promise<void> {
    if (this.#errors.length > 0) throw this.#errors[0];
    const { ledger, tables, payments } = this;
    const attempts = tables.attempts();
    assert.equal(attempts.length, tables.count, 'an attempt belongs to no order');
    const further = ledger.declined.size + (this.scene.replaces ? 1 : 0);
    assert.ok(attempts.length <= 1 + further, 'a further attempt without a decline');
    const references = new Set(payments.map(({ reference }) => reference));
    assert.equal(references.size, payments.length, 'two payments of an attempt');
    assert.equal(attempts[0]?.paidBy, ledger.firstPaid, 'the first paid payment pays the order');
    for (const payment of payments) {
      const isSecond = ledger.paid.has(payment.number) && payment.number !== ledger.firstPaid;
      assert.equal(tables.isSecond(payment), isSecond, 'a second payment is not listed');
    }
    assert.ok(ledger.fulfilled.size <= 1, 'two payments of an order are told as the first');
    if (ledger.firstPaid === undefined) return;
    const { referenceNumber } = await this.#shown();
    assert.equal(referenceNumber, ledger.firstPaid, 'an order does not show what has paid it');
  }

  /** The record that `getOrder()` shows. */
  async #shown(): Promise<{ readonly referenceNumber?: string; readonly status?: string }> {
    const stored = await this.plain.getOrder(ORDER);
    return (stored?.state === 'created' && stored.payment) || {};
  }

  /** Everybody has gone. A click after a decline makes a further attempt; none is made of a paid order. */
  async end(): Promise<void> {
    const { turns, plain, tables, payments } = this;
    turns.nowMs += 100_000;
    const lookUp = (reference: string) => {
      const found = payments.find((payment) => payment.reference === reference);
      return found === undefined ? ('not-created' as const) : { referenceNumber: found.number };
    };
    for (let count = 0; count < 3; count += 1) await orRefused(plain.recover({ lookUp }));
    const { status } = await this.#shown();
    const [isPaid, count] = [this.ledger.firstPaid !== undefined, payments.length];
    const stored = await plain.create({
      ...INPUT,
      amount: tables.attempts().at(-1)?.body.includes('"amount":2') ? 2 : 1,
    });
    assert.equal(stored.state, 'created', `an order is locked: ${stored.state}`);
    const isTried = !isPaid && (status === 'declined' || count === 0);
    const made = payments.length - count;
    assert.equal(made, isTried ? 1 : 0, isTried ? 'an order is locked' : 'a payment too many');
  }
}
