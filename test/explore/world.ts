import assert from 'node:assert/strict';
import { MerchantPaymentsError } from '../../src/errors.js';
import { resolveOptions } from '../../src/protocol/options.js';
import { PREPARE_CREATION } from '../../src/protocol/prepared-creation.js';
import type { Attention } from '../../src/store/attention.js';
import type { Backend } from '../../src/store/backend.js';
import { storeRules } from '../../src/store/options.js';
import { createStore } from '../../src/store/payment-engine.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { act, INPUTS } from './actors.js';
import { check, checkForgotten, checkGranted, checkStopped } from './claims.js';
import { type Change, Deliveries } from './deliveries.js';
import { checkEnd } from './end-claims.js';
import type { Play } from './explorer.js';
import { Ledger } from './ledger.js';
import { checkAttempts, checkOrder } from './order-claims.js';
import { LEASE_MS, LIFETIME_MS, OLD_MS, type Scene } from './scene.js';
import { Service } from './service.js';
import { Tables } from './tables.js';
import { type Step, Turns } from './turns.js';

/** What only reads is taken with the step before it. */
const READS: readonly PropertyKey[] = ['list', 'listDue', 'listSecond', 'listFailed', 'read'];

/** One order, and everything that acts on it. */
export class World implements Play {
  readonly turns = new Turns();
  readonly scene: Scene;
  readonly tables = new Tables(this.turns);
  readonly ledger = new Ledger();
  readonly service = new Service(this);
  readonly deliveries = new Deliveries(this);
  /** A store whose steps are taken at once. */
  readonly plain: PaymentStore<undefined>;
  /** The failed changes as listed. */
  failures: Awaited<ReturnType<Tables['failures']>> = new Map();
  /** The customers who have begun. */
  readonly started = new Set<string>();
  #crashesLeft: number;
  #slowClaims = 0;
  readonly #errors: unknown[] = [];
  /** What each actor has claimed or read last. */
  readonly #keys = new Map<string, string>();
  /** The changes that are delivered only once the scene has begun. */
  #held: Change[] | undefined;

  constructor(scene: Scene) {
    this.scene = scene;
    this.plain = this.#open('plain', this.tables);
    this.#crashesLeft = scene.crashes ?? 0;
    if (scene.begins === undefined) act(this);
    else this.act('before', () => this.#begin());
  }

  /** The order's first attempt is created, and may be declined. */
  async #begin(): Promise<void> {
    const { turns, scene, plain, service, deliveries } = this;
    const held: Change[] = [];
    this.#held = held;
    turns.isAuto = true;
    await plain.create(INPUTS.A);
    const [first] = service.payments;
    if (scene.begins === 'declined' && first !== undefined) {
      const { number, reference } = first;
      const change = { key: 'the decline', number, reference, status: 'declined', at: 1 };
      await deliveries.process('before', change, false);
    }
    turns.isAuto = false;
    this.#held = undefined;
    for (const change of held) this.deliver(change);
    act(this);
  }

  /** Whether a customer may try again after a decline. */
  get triesAgain(): boolean {
    return this.scene.triesAgain ?? this.scene.begins !== undefined;
  }

  /** Lets an actor act. */
  act(name: string, run: (name: string) => Promise<void>): void {
    run(name).catch((error) => this.#errors.push(error));
  }

  deliver(change: Change): void {
    if (this.#held === undefined) this.deliveries.start(change);
    else this.#held.push(change);
  }

  /** A store as a process has it: each method of its backend is a step of the actor. */
  store(actor: string): PaymentStore<undefined> {
    return this.#open(actor, this.#inSteps(actor));
  }

  #open(actor: string, backend: Backend<undefined>): PaymentStore<undefined> {
    const client = {
      payments: { create: () => assert.fail('a store prepares what it sends') },
      [PREPARE_CREATION]: (input: { readonly merchantPaymentReference: string }) => ({
        body: JSON.stringify(input),
        timeoutMs: LEASE_MS,
        mayRepeat: this.scene.idempotency !== undefined,
        send: () => this.service.send(actor, input.merchantPaymentReference),
      }),
    };
    const declined = this.triesAgain ? ['declined'] : undefined;
    const options = { client, declined, leaseMs: LEASE_MS, requestLifetimeMs: LIFETIME_MS };
    const rules = resolveOptions(options as never, storeRules);
    return createStore(backend, rules) as PaymentStore<undefined>;
  }

  #inSteps(actor: string): Backend<undefined> {
    return new Proxy<Backend<undefined>>(this.tables, {
      get: (target, name) => {
        const method = Reflect.get(target, name, target);
        if (typeof method !== 'function' || name === 'process') return method;
        return (...args: unknown[]) => this.#step(actor, String(name), args);
      },
    });
  }

  async #step(actor: string, name: string, args: readonly unknown[]): Promise<unknown> {
    const { turns, tables } = this;
    if (name === 'claim' && this.scene.slowClaims) turns.mark(actor, 'claim', LEASE_MS);
    if (!READS.includes(name)) await turns.step(actor, () => [name]);
    const key = keyOf(args[0]);
    this.#keys.set(actor, key);
    const before = tables.row(key);
    const { attempts } = tables;
    const method = Reflect.get(tables, name) as (...given: unknown[]) => Promise<unknown>;
    const result = await method.apply(tables, [...args]);
    turns.note(actor, timeless(result));
    if (name === 'listDue') turns.mark(actor, 'list', OLD_MS);
    if (name === 'decide' || name === 'look') turns.unmark(actor, 'list');
    if (name === 'record') checkAttempts(this, attempts);
    if (name === 'stopWaiting') checkStopped(this, key, before);
    if (name === 'forgetFailed') await checkForgotten(this, args[0], args[1]);
    if (name !== 'claim') return result;
    const { granted } = result as { granted: boolean };
    if (granted && before?.owner !== tables.row(key)?.owner) {
      checkGranted(this, before, args[0]);
      this.ledger.claims.push(key);
    }
    await this.#hear(actor);
    return result;
  }

  /** The answer of a claim, for which its process may have to wait, or stand still meanwhile. */
  async #hear(actor: string): Promise<void> {
    const { turns, scene } = this;
    if (this.#slowClaims >= (scene.slowClaims ?? 0)) return;
    const atMs = turns.nowMs;
    const how = await turns.step(actor, () => ['hears at once', 'waits']);
    if (how !== 'waits') return;
    this.#slowClaims += 1;
    await turns.step(actor, () => (turns.nowMs > atMs ? ['hears'] : []));
  }

  async listed(): Promise<readonly Attention[]> {
    const items: Attention[] = [];
    for await (const item of this.plain.attention({ olderThanMs: 0 })) items.push(item);
    return items;
  }

  /** Whether `attention()` may list anything: cheaper than to ask it. */
  get mayList(): boolean {
    const { turns, tables, service, ledger } = this;
    const isListed = (reference: string) => {
      const row = tables.row(reference);
      const isOver = (row?.sentAtMs ?? turns.nowMs) + LIFETIME_MS <= turns.nowMs;
      const isOpen = row?.state === 'sending' || row?.state === 'unresolved';
      return (isOpen && isOver) || row?.state === 'unheard' || row?.state === 'missed';
    };
    const hasSecond = service.payments.some((payment) => tables.second(payment) !== undefined);
    return tables.references.some(isListed) || hasSecond || ledger.hasFailed;
  }

  /** A timer of the store's: it waits for another call that sends the payment. Returns what ends it. */
  wait(go: () => void, ms: number): () => void {
    const { turns, tables } = this;
    let isEnded = false;
    const end = () => {
      isEnded = true;
    };
    // Deadlines of calls that always settle here.
    if (ms > LEASE_MS) return end;
    if (turns.isAuto) {
      turns.nowMs += ms;
      queueMicrotask(go);
      return end;
    }
    const atMs = turns.nowMs;
    const actor = turns.current;
    const key = this.#keys.get(actor);
    // Before, it would find the same again.
    const isSending = () => tables.row(key)?.state === 'sending';
    const isReady = () => !isSending() || turns.nowMs > atMs;
    const labels = () => (!isEnded && isReady() ? ['wakes'] : []);
    void turns.step(actor, labels, { isNoted: false }).then(go);
    return end;
  }

  more(isReplay: boolean): readonly Step[] {
    const { turns } = this;
    const { mortal = /^click|^recover|^recorder/ } = this.scene;
    const dying = this.#crashesLeft > 0 ? turns.waiting.filter((actor) => mortal.test(actor)) : [];
    const deaths = dying.map((actor) => ({
      label: `${actor} dies`,
      take: () => {
        this.#crashesLeft -= 1;
        turns.kill(actor);
      },
    }));
    if (!isReplay && !this.#mayTimePass()) return deaths;
    const take = () => {
      turns.nowMs += LEASE_MS;
    };
    return [...deaths, { label: 'time passes', take }];
  }

  #mayTimePass(): boolean {
    const { turns } = this;
    // Time that passes before a claim or during the work decides nothing.
    if (this.ledger.working !== undefined) return false;
    const isNext = (label: string) =>
      turns.waiting.some((actor) => turns.isWaitingFor(actor, label));
    if (isNext('claim') || isNext('hears at once')) return false;
    if (isNext('leaves') && !this.scene.stalls) return false;
    const before = turns.state() + this.#state();
    turns.nowMs += LEASE_MS;
    const after = turns.state() + this.#state();
    turns.nowMs -= LEASE_MS;
    return before !== after;
  }

  async state(): Promise<string> {
    this.failures = await this.tables.failures();
    return this.#state();
  }

  #state(): string {
    const { tables, turns, service, ledger, deliveries } = this;
    const isPruned = (this.scene.prunes ?? 0) > 0;
    return JSON.stringify([
      tables.dump(isPruned),
      service.payments.map((payment) => tables.second(payment)?.payment),
      [...this.failures].sort(),
      service.state(),
      ledger.state(),
      deliveries.state(),
      this.#crashesLeft,
      this.#slowClaims,
      isPruned && Math.min(turns.nowMs, OLD_MS),
    ]);
  }

  async check(): Promise<void> {
    if (this.#errors.length > 0) throw this.#errors[0];
    this.failures = await this.tables.failures();
    check(this);
    await checkOrder(this);
  }

  async end(): Promise<void> {
    await checkEnd(this);
  }
}

/** The payment that a step of the store is about. */
function keyOf(given: unknown): string {
  return typeof given === 'string' ? given : String((given as { key?: unknown })?.key);
}

/** As text, without times and texts that decide nothing of what an actor does next. */
function timeless(result: unknown): string {
  const isIdle = (name: string) =>
    name.endsWith('AtMs') || ['place', 'leftMs', 'failure', 'digest'].includes(name);
  return JSON.stringify(result ?? null, (name, field) => (isIdle(name) ? undefined : field));
}

/** Lets a call of the store fail as it may. */
export async function orRefused(running: Promise<unknown>): Promise<boolean> {
  try {
    await running;
    return true;
  } catch (error) {
    if (!(error instanceof MerchantPaymentsError)) throw error;
    return false;
  }
}
