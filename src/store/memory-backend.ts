import type { Backend } from './backend.js';
import { MemoryCallbacks, type MemoryOptions } from './memory-callbacks.js';
import { pageOf, type Row } from './memory-entries.js';
import {
  type Claim,
  type Claimed,
  type Decided,
  type Decision,
  type DueKind,
  FOUND_PAID,
  type Intent,
  type Listed,
  type ListKind,
  type Order,
  type Page,
  type PaymentRow,
  type Recorded,
  type Recording,
  type Result,
  type ServiceRecord,
} from './payment-row.js';
import {
  type KeyedRow,
  type PaymentRows,
  PaymentSteps,
  type Step,
  type StepPart,
} from './payment-steps.js';
import * as steps from './steps.js';

/** A store in this process's memory: what its callbacks do, and the payments that it sends. */
export class MemoryBackend extends MemoryCallbacks implements Backend<undefined> {
  readonly needsTransaction = false;
  readonly #steps: PaymentSteps;

  constructor(options: MemoryOptions) {
    super(options);
    const see = (key: string) => done(this.#see(key));
    this.#steps = new PaymentSteps({
      forms: this.forms,
      see,
      // No other step runs meanwhile.
      lock: see,
      insert: (key, intent, order) => done(this.#insert(key, intent, order)),
      change: (key, change) => done(this.change(this.entries.get(key), change)),
    } satisfies PaymentRows);
  }

  #see(key: string): KeyedRow | undefined {
    const row = this.entries.get(key)?.row;
    return row && { key, row, nowMs: this.nowMs };
  }

  #insert(key: string, intent: Intent, order: string | undefined): void {
    if (!this.entries.has(key)) this.insert(key, intent, 'recorded', order);
  }

  async claim(claim: Claim): Promise<Claimed> {
    return run(this.#steps.claim(claim));
  }

  async record(recording: Recording): Promise<Recorded> {
    return run(this.#steps.record(recording));
  }

  async readOrder(key: string): Promise<Order | undefined> {
    return run(this.#steps.readOrder(key));
  }

  async finish(key: string, owner: string, result: Result): Promise<PaymentRow | undefined> {
    return run(this.#steps.finish(key, owner, result));
  }

  async settle(key: string, serviceRecord: ServiceRecord): Promise<void> {
    const known = { isOld: true, second: this.secondOf(key, serviceRecord) };
    const row = this.entries.get(key)?.row;
    const settled = steps.settle(row, { serviceRecord, isPaid: false }, known);
    this.settleOrder(key, serviceRecord, settled);
  }

  async decide(key: string, decision: Decision): Promise<Decided> {
    return run(this.#steps.decide(key, decision));
  }

  async look(key: string, look: steps.Look): Promise<boolean> {
    return run(this.#steps.look(key, look));
  }

  override async stopWaiting(key: string, attempts: number): Promise<boolean> {
    return run(this.#steps.stopWaiting(key, attempts));
  }

  async read(key: string): Promise<PaymentRow | undefined> {
    const found = this.#see(key);
    return found && steps.visible(found.row, found.nowMs);
  }

  async expire(): Promise<number> {
    const all = [...this.entries.values()];
    const expired = all.filter(({ row }) => steps.expire(row, this.nowMs));
    for (const entry of expired) this.change(entry, { state: 'unresolved' });
    return expired.length;
  }

  override async list(kind: ListKind, page: Page): Promise<readonly Listed[]> {
    const isListed = (row: Row) => isOfKind(kind, row, this.nowMs);
    return this.#list(isListed, kind === 'unresolved' ? 'sentAtMs' : 'changedAtMs', page);
  }

  async listDue(kind: DueKind, lifetimeMs: number, page: Page): Promise<readonly Listed[]> {
    const isListed = (row: Row) => steps.isDue(row, kind, lifetimeMs, this.nowMs);
    return this.#list(isListed, 'sentAtMs', page);
  }

  #list(
    isListed: (row: Row) => boolean,
    time: 'sentAtMs' | 'changedAtMs',
    page: Page,
  ): readonly Listed[] {
    const { nowMs } = this;
    const listed = [...this.entries.values()].filter(({ row }) => isListed(row));
    const all = listed.map(({ key, row }) => ({
      key,
      stored: steps.visible(row, nowMs) as PaymentRow,
      place: { atMs: row[time] ?? 0, names: [key] },
      listedAtMs: nowMs,
    }));
    return pageOf(all, page, nowMs);
  }
}

/** A part of a step that has no statement to yield. */
function done<Value>(value: Value): StepPart<Value> {
  return { [Symbol.iterator]: () => ({ next: () => ({ done: true, value }) }) };
}

/** Runs a step at once, since none of its parts yields. */
function run<Value>(step: Step<Value>): Value {
  return step.next().value as Value;
}

function isOfKind(kind: ListKind, row: Row, nowMs: number): boolean {
  const { state, foundStatus, leaseUntilMs = 0 } = row;
  if (kind === 'unresolved') {
    return (state === 'unresolved' || state === 'sending') && leaseUntilMs <= nowMs;
  }
  if (state !== 'missed') return state === kind;
  return kind === (foundStatus === FOUND_PAID ? 'missed-paid' : 'missed');
}
