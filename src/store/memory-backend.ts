import type { Backend } from './backend.js';
import { MemoryCallbacks, type Row } from './memory-callbacks.js';
import {
  isPaidByAnother,
  type NewAttempt,
  nextAttempt,
  type OrderRow,
  refuse,
  replaced,
  toOrder,
} from './order-steps.js';
import {
  type Claim,
  type Claimed,
  type Decided,
  type Decision,
  type DueKind,
  FOUND_PAID,
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
import * as steps from './steps.js';

/** A store in this process's memory: what its callbacks do, and the payments that it sends. */
export class MemoryBackend extends MemoryCallbacks implements Backend<undefined> {
  readonly needsTransaction = false;

  async claim({ key, ...wanted }: Claim): Promise<Claimed> {
    const { intent } = wanted;
    const row = this.rows.get(key) ?? (intent && this.insert(key, intent, 'recorded'));
    if (row === undefined) return { granted: false, stored: undefined };
    if (row.order !== undefined && isPaidByAnother(row, this.paidBy(row), wanted)) {
      if (row.state === 'recorded') this.change(key, row, { state: 'rejected' });
      return { granted: false, stored: this.#read(row), isPaid: true };
    }
    const change = steps.claim(row, wanted, this.nowMs);
    if (change !== undefined) this.change(key, row, change);
    return { granted: change?.state === 'sending', stored: this.#read(row) };
  }

  async record({ key, intent, replaces, declined }: Recording): Promise<Recorded> {
    const wanted = { key, intent };
    if (replaces !== undefined) return this.#replace(replaces, wanted);
    const order = declined && this.#orderOf(key);
    if (declined === undefined || order === undefined) return this.#recordOne(wanted);
    const meant = nextAttempt(order, wanted, declined, this.forms);
    if (meant.is === 'paid') return { ...meant.attempt, intent: undefined };
    if (meant.is === 'open') return this.#recordOne(meant.attempt);
    for (let number = order.count + 1; ; number += 1) {
      const recorded = this.#replace(meant.replaces, meant.toAttempt(number));
      if (recorded.refused !== 'in-use') return recorded;
    }
  }

  #recordOne({ key, intent }: NewAttempt): Recorded {
    const row = this.rows.get(key);
    if (row === undefined) {
      this.insert(key, intent, 'recorded');
      return { key, intent };
    }
    const change = steps.record(row, intent, this.nowMs);
    if (change === undefined) return { key, intent, stored: this.#read(row) };
    this.change(key, row, change);
    return { key, intent };
  }

  #replace(replaces: string, attempt: NewAttempt): Recorded {
    const { key, intent } = attempt;
    const row = this.rows.get(replaces);
    if (row === undefined) return { ...attempt, refused: 'unknown' };
    const { replacedBy } = row;
    if (this.rows.has(key)) {
      const isDone = replacedBy === JSON.stringify(key);
      return isDone ? this.#recordOne(attempt) : { ...attempt, refused: 'in-use' };
    }
    const refused = refuse(row, this.paidBy(row), this.nowMs);
    if (refused !== undefined) return { ...attempt, refused, replacedBy };
    this.insert(key, intent, 'recorded').order = row.order ?? JSON.stringify(replaces);
    this.change(replaces, row, replaced(row, JSON.stringify(key)));
    return attempt;
  }

  async readOrder(key: string): Promise<Order | undefined> {
    return this.#orderOf(key);
  }

  #orderOf(first: string): Order | undefined {
    const rows: OrderRow[] = [];
    for (let key: string | undefined = first; key !== undefined; ) {
      const row = this.rows.get(key);
      const stored = row && this.#read(row);
      if (row === undefined || stored === undefined) return undefined;
      rows.push({ key, row, stored });
      key = row.replacedBy === undefined ? undefined : JSON.parse(row.replacedBy);
    }
    return toOrder(rows);
  }

  async finish(key: string, owner: string, result: Result): Promise<PaymentRow | undefined> {
    const row = this.rows.get(key);
    if (row?.owner !== owner) return undefined;
    this.change(key, row, steps.end(result));
    return this.#read(row);
  }

  async settle(key: string, serviceRecord: ServiceRecord): Promise<void> {
    const known = { isOld: true, second: this.secondOf(key, serviceRecord) };
    const settled = steps.settle(this.rows.get(key), { serviceRecord, isPaid: false }, known);
    this.settleOrder(key, serviceRecord, { settled });
  }

  async decide(key: string, decision: Decision): Promise<Decided> {
    const row = this.rows.get(key);
    if (row === undefined) return { outcome: 'unknown' };
    const { decided, change } = steps.decide(row, decision, this.nowMs);
    if (change !== undefined) this.change(key, row, change);
    return decided;
  }

  async look(key: string, look: steps.Look): Promise<boolean> {
    const row = this.rows.get(key);
    const change = row && steps.look(row, look, this.nowMs);
    if (row !== undefined && change !== undefined) this.change(key, row, change);
    return change !== undefined;
  }

  async read(key: string): Promise<PaymentRow | undefined> {
    const row = this.rows.get(key);
    return row && this.#read(row);
  }

  async expire(): Promise<number> {
    return [...this.rows.values()].filter((row) => this.#expireOne(row)).length;
  }

  override async list(kind: ListKind, page: Page): Promise<readonly Listed[]> {
    const { nowMs } = this;
    const isListed = (row: Row): boolean => {
      if (row.state === 'missed')
        return (row.foundStatus === FOUND_PAID ? 'missed-paid' : 'missed') === kind;
      const isLeased = kind === 'unresolved' && (row.leaseUntilMs ?? 0) > nowMs;
      return row.state === kind && !isLeased;
    };
    return this.#list(isListed, kind === 'unresolved' ? 'sentAtMs' : 'changedAtMs', page);
  }

  async listDue(
    kind: DueKind,
    lifetimeMs: number,
    page: Omit<Page, 'olderThanMs'>,
  ): Promise<readonly Listed[]> {
    const isListed = (row: Row) => steps.isDue(row, kind, lifetimeMs, this.nowMs);
    return this.#list(isListed, 'sentAtMs', { ...page, olderThanMs: 0 });
  }

  #list(
    isListed: (row: Row) => boolean,
    time: 'sentAtMs' | 'changedAtMs',
    page: Page,
  ): readonly Listed[] {
    const { nowMs } = this;
    const all = [...this.rows].flatMap(([key, row]) => {
      const stored = this.#read(row);
      if (stored === undefined || !isListed(row)) return [];
      return [{ key, stored, place: { atMs: row[time] ?? 0, names: [key] }, listedAtMs: nowMs }];
    });
    return this.page(all, page);
  }

  override async stopWaiting(key: string, attempts: number): Promise<boolean> {
    const row = this.rows.get(key);
    const change = row && steps.stopWaiting(row, attempts);
    if (row !== undefined && change) this.change(key, row, change);
    return change === false;
  }

  #read(row: Row): PaymentRow | undefined {
    this.#expireOne(row);
    return steps.visible(row, this.nowMs);
  }

  /** Returns whether the lease has expired. */
  #expireOne(row: Row): boolean {
    const { nowMs } = this;
    const change = steps.expire(row, nowMs);
    if (change !== undefined) Object.assign(row, change, { changedAtMs: nowMs });
    return change !== undefined;
  }
}
