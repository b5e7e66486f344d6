import assert from 'node:assert/strict';
import { MerchantPaymentsError } from '../../src/errors.js';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import type { StatusChange, StoreContext } from '../../src/store/callback-store.js';
import type { Play } from './explorer.js';
import { Died, Instance, workOf } from './instance.js';
import type { Told } from './ledger.js';
import { Server, type Tx } from './lost-transactions.js';
import { type Outcome, Outcomes } from './outcomes.js';
import type { ProcessingScene } from './processing-scene.js';
import { REFERENCE } from './tables.js';
import { PREFIX, tables } from './tables-in-sqlite.js';
import { type Step, Turns } from './turns.js';

const LEASE_MS = 900;
/** For how long work may take. */
const RENEW_FOR_MS = 1_200;

type Context = Omit<StoreContext<Tx | undefined>, 'input'>;

/** The instances of a shop that process the callbacks of one order, by the store's own code and SQL. */
export class Processing implements Play {
  readonly turns = new Turns();
  readonly #scene: ProcessingScene;
  readonly #server: Server;
  readonly #outcomes: Outcomes;
  /** Those that have not answered yet, by their actors. */
  readonly #instances = new Map<string, Instance>();
  /** Those whose work runs, perhaps longer than their store waits for it. */
  readonly #working = new Set<Instance>();
  readonly #left: Record<'failures' | 'crashes' | 'stalls' | 'hangs' | 'endings', number>;
  readonly #begun = new Set<string>();
  #deliveriesLeft = 0;
  readonly #errors: unknown[] = [];

  constructor(scene: ProcessingScene) {
    const { failures = 0, crashes = 0, stalls = 0, hangs = 0, endings = 0 } = scene;
    this.#scene = scene;
    this.#left = { failures, crashes, stalls, hangs, endings };
    this.#server = new Server(scene);
    tables.empty();
    const changes = scene.payments.flatMap((statuses, index) =>
      statuses.map((status): Told => {
        const number = `payment-${index + 1}`;
        const key = `${number}:${status.status}${status.at}`;
        return { ...status, number, key, reference: REFERENCE };
      }),
    );
    this.#outcomes = new Outcomes(changes, scene);
    for (const change of changes) {
      for (let copy = 1; copy <= (scene.copies ?? 1); copy += 1) {
        this.#act(this.#deliver(change, copy));
      }
    }
    if (scene.parkAfter !== undefined) this.#act(this.#replay());
  }

  #act(running: Promise<void>): void {
    running.catch((error) => this.#errors.push(error));
  }

  /** The service delivers until it is answered with 200. */
  async #deliver(change: Told, copy: number): Promise<void> {
    const actor = `${change.key} #${copy}`;
    // Which of equal deliveries comes first makes no difference.
    const isReady = () => copy === 1 || this.#begun.has(`${change.key} #${copy - 1}`);
    this.#deliveriesLeft += 1;
    do {
      this.turns.begin(actor);
      await this.turns.step(actor, () => (isReady() ? ['arrives'] : []));
      this.#begun.add(actor);
    } while (!(await this.#process(actor, change, false)));
    this.#deliveriesLeft -= 1;
  }

  /** A person replays what is parked. */
  async #replay(): Promise<void> {
    for (;;) {
      this.turns.begin('person');
      const keys = () => this.#outcomes.parked.map(({ key }) => key);
      const wanted = await this.turns.step('person', keys);
      const change = this.#outcomes.parked.find(({ key }) => key === wanted);
      if (change !== undefined) await this.#process('person', change, true);
    }
  }

  /** Returns whether the delivery is answered with 200. */
  async #process(actor: string, change: Told, runParked: boolean): Promise<boolean> {
    const instance = new Instance(actor, this.turns);
    this.#instances.set(actor, instance);
    try {
      const outcome = await instance.untilDeath(this.#outcomeOf(instance, change, runParked));
      return this.#outcomes.answer(change, outcome);
    } catch (error) {
      if (error instanceof Died) return false;
      throw error;
    } finally {
      this.#instances.delete(actor);
    }
  }

  async #outcomeOf(instance: Instance, change: Told, runParked: boolean): Promise<Outcome> {
    const { number, key, status, at } = change;
    const payment = {
      referenceNumber: number,
      merchantPaymentReference: REFERENCE,
      status,
      updatedAt: `2026-01-01T00:00:0${at}Z`,
    };
    const failures = { parkAfter: this.#scene.parkAfter, runParked };
    const isHeld = this.#isHeld;
    try {
      const result = await this.#start(instance, { key, payment, failures }, change);
      const { outcome, error, notKept } = result;
      if (error instanceof assert.AssertionError) throw error;
      assert.ok(outcome !== 'busy' || isHeld, 'busy, and nobody holds the order');
      return outcome === 'failed' && notKept !== undefined ? 'unknown' : outcome;
    } catch (error) {
      if (error instanceof MerchantPaymentsError) return 'unknown';
      throw error;
    }
  }

  /** By work that runs, or that has left its claim behind. */
  get #isHeld(): boolean {
    const { engine, crashes, stalls } = this.#scene;
    if (engine === 'transaction') return true;
    const [claim] = tables.committed().claims;
    if (claim === undefined || Number(claim['until_ms']) <= this.turns.nowMs) return false;
    return this.#working.size > 0 || Boolean(crashes || stalls);
  }

  #start(instance: Instance, change: StatusChange, told: Told) {
    const isParked = change.failures?.runParked === false && this.#outcomes.parked.includes(told);
    const work = (context: Context) => {
      assert.ok(!isParked, 'a parked change runs');
      return this.#work(instance, told, context);
    };
    if (this.#scene.engine === 'transaction') {
      return this.#server.store(instance).process(change, work);
    }
    const options = { prefix: PREFIX, leaseMs: LEASE_MS, renewForMs: RENEW_FOR_MS };
    const store = sqliteStore(tables, { ...options, now: () => this.turns.nowMs });
    return store.process(change, work);
  }

  async #work(instance: Instance, change: Told, context: Context): Promise<void> {
    instance.signal = context.signal;
    instance.seen.push([context.current, context.secondPayment]);
    this.#outcomes.run(change);
    this.#working.add(instance);
    if (!this.#scene.limits?.includes('overlap')) {
      assert.equal(this.#working.size, 1, 'the work of two deliveries runs at a time');
    }
    try {
      let did: string;
      do {
        did = await this.turns.step(instance.work, () => this.#labels(instance));
        if (did === 'resumes') instance.isStalled = false;
      } while (did === 'resumes');
      this.#do(did, instance, () => {
        if (context.tx === undefined) tables.write(change.key, context.current);
        else context.tx.write(change.key, context.current);
      });
      if (this.#mayDieAfterIt) await this.turns.step(instance.work, () => ['returns']);
    } finally {
      instance.signal = undefined;
      this.#working.delete(instance);
    }
  }

  /** Under a lease, what the work has written stays when its process dies before it is recorded. */
  get #mayDieAfterIt(): boolean {
    return this.#scene.engine === 'lease' && this.#left.crashes > 0;
  }

  #labels({ isStalled, signal }: Instance): readonly string[] {
    if (isStalled) return ['resumes'];
    if (signal?.aborted && !this.#scene.isDeaf) return ['throws'];
    const { failures, endings } = this.#left;
    return [
      'works',
      ...(failures > 0 ? ['throws'] : []),
      ...(endings > 0 ? ['commits', 'rolls back'] : []),
    ];
  }

  #do(what: string, instance: Instance, write: () => void): void {
    // Under a lease, what it has written would stay.
    if (what === 'throws' && this.#scene.engine === 'transaction') write();
    if (what === 'throws') {
      this.#left[instance.signal?.aborted ? 'hangs' : 'failures'] -= 1;
      throw new WorkError();
    }
    write();
    if (what === 'works') return;
    this.#left.endings -= 1;
    this.#server.endItself(instance, what === 'commits' ? 'COMMIT' : 'ROLLBACK');
  }

  more(): readonly Step[] {
    const instances = [...this.#instances.values()];
    const { crashes, stalls } = this.#left;
    const steps = instances.flatMap((instance) => {
      const { actor, due, signal, isStalled } = instance;
      const stepOf = (label: string, take: () => void) => ({
        label: `${actor} ${label}`,
        take: () => {
          this.turns.current = actor;
          take();
        },
      });
      const canStall = stalls > 0 && signal !== undefined && !isStalled;
      return [
        ...due.map((name) => stepOf(`timer: ${name}`, () => instance.fire(name))),
        ...(crashes > 0 ? [stepOf('dies', () => this.#kill(instance))] : []),
        ...(canStall ? [stepOf('stands still', () => this.#stall(instance))] : []),
        ...(signal !== undefined && this.#server.mayLoseNow === instance
          ? [stepOf('loses its connection', () => this.#server.lose())]
          : []),
      ];
    });
    const nextMs = this.#nextMs(instances);
    if (nextMs === undefined) return steps;
    const take = () => {
      this.turns.nowMs = nextMs;
    };
    return [...steps, { label: 'time passes', take }];
  }

  #kill(instance: Instance): void {
    this.#left.crashes -= 1;
    this.#working.delete(instance);
    this.#server.forget(instance);
    instance.die();
  }

  #stall(instance: Instance): void {
    this.#left.stalls -= 1;
    instance.isStalled = true;
    instance.hasStalled = true;
  }

  /** When something happens next if time passes. It does not as long as a process that stands not still has to act. */
  #nextMs(instances: readonly Instance[]): number | undefined {
    const { nowMs } = this.turns;
    const mustAct = ({ due, signal, isStalled }: Instance) =>
      due.length > 0 || (signal?.aborted === true && !isStalled && !this.#scene.isDeaf);
    if (instances.some(mustAct)) return undefined;
    const mayHang = ({ signal, isStalled }: Instance) =>
      this.#left.hangs > 0 || signal === undefined || isStalled;
    const ends = tables.committed().claims.map((claim) => Number(claim['until_ms']));
    const times = [...instances.flatMap(({ timesMs }) => timesMs), ...ends];
    const later = times.filter((atMs) => atMs > nowMs);
    if (later.length === 0) return undefined;
    const nextMs = Math.min(...later);
    const hangs = (one: Instance) => !mayHang(one) && nextMs >= one.begunAtMs + RENEW_FOR_MS;
    return instances.some(hangs) ? undefined : nextMs;
  }

  /** A timer of the store's. */
  wait(go: () => void, ms: number): () => void {
    const instance = [...this.#instances.values()].find(({ actor }) =>
      [actor, workOf(actor)].includes(this.turns.current),
    );
    if (this.#scene.engine === 'lease' && instance !== undefined) return instance.wait(go, ms);
    // A pause before another try. What ends a wait for a lock is a step.
    if (ms <= 50) queueMicrotask(go);
    return () => undefined;
  }

  async state(): Promise<string> {
    const [claim] = tables.committed().claims;
    return JSON.stringify([
      tables.text(),
      claim && this.turns.ageOf(Number(claim['until_ms']), 0),
      [...this.#instances.values()].map((instance) => instance.state()).sort(),
      [...this.#working].map(({ actor }) => actor).sort(),
      this.#outcomes.state(),
      this.#left,
      this.#server.state(),
    ]);
  }

  async check(): Promise<void> {
    if (this.#errors.length > 0) throw this.#errors[0];
    this.#outcomes.check(this.#working.size === 0);
    for (const { signal, begunAtMs, hasStalled } of this.#working) {
      const isOver = hasStalled || this.turns.nowMs >= begunAtMs + RENEW_FOR_MS;
      assert.ok(!signal?.aborted || isOver, 'the lease of a living process is lost');
    }
  }

  async end(): Promise<void> {
    assert.equal(this.#deliveriesLeft, 0, 'a delivery never ends');
  }
}

class WorkError extends Error {}
