import type { Backend } from './backend.js';
import { MemoryCallbacks } from './memory-callbacks.js';
import { pageOf, type Row } from './memory-entries.js';
import {
  isPaidByAnother,
  type NewAttempt,
  nextAttempt,
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
    const entry = this.entries.get(key) ?? (intent && this.insert(key, intent, 'recorded'));
    if (entry === undefined) return { granted: false, stored: undefined };
    const { row } = entry;
    if (row.order !== undefined && isPaidByAnother(row, this.firstOf(entry).row.paidBy, wanted)) {
      if (row.state === 'recorded') this.change(entry, { state: 'rejected' });
      return { granted: false, stored: this.#read(row), isPaid: true };
    }
    const change = steps.claim(row, wanted, this.nowMs);
    this.change(entry, change);
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
    const entry = this.entries.get(key) ?? this.insert(key, intent, 'recorded');
    this.change(entry, steps.record(entry.row, intent, this.nowMs));
    return { key, intent, stored: this.#read(entry.row) };
  }

  #replace(replaces: string, attempt: NewAttempt): Recorded {
    const { key, intent } = attempt;
    const entry = this.entries.get(replaces);
    if (entry === undefined) return { ...attempt, refused: 'unknown' };
    const { row } = entry;
    const { replacedBy } = row;
    if (this.entries.has(key)) {
      const isDone = replacedBy === JSON.stringify(key);
      return isDone ? this.#recordOne(attempt) : { ...attempt, refused: 'in-use' };
    }
    const refused = refuse(row, this.firstOf(entry).row.paidBy, this.nowMs);
    if (refused !== undefined) return { ...attempt, refused, replacedBy };
    // First, so that no room is made for the new attempt by forgetting its order.
    this.change(entry, replaced(row, JSON.stringify(key)));
    this.insert(key, intent, 'recorded', row.order ?? JSON.stringify(replaces));
    return attempt;
  }

  async readOrder(key: string): Promise<Order | undefined> {
    return this.#orderOf(key);
  }

  #orderOf(first: string): Order | undefined {
    const rows = this.attemptsAt(first);
    return toOrder(
      rows.map(({ key, row }) => ({ key, row, stored: this.#read(row) as PaymentRow })),
    );
  }

  async finish(key: string, owner: string, result: Result): Promise<PaymentRow | undefined> {
    const entry = this.entries.get(key);
    if (entry?.row.owner !== owner) return undefined;
    this.change(entry, steps.end(result));
    return this.#read(entry.row);
  }

  async settle(key: string, serviceRecord: ServiceRecord): Promise<void> {
    const known = { isOld: true, second: this.secondOf(key, serviceRecord) };
    const row = this.entries.get(key)?.row;
    const settled = steps.settle(row, { serviceRecord, isPaid: false }, known);
    this.settleOrder(key, serviceRecord, settled);
  }

  async decide(key: string, decision: Decision): Promise<Decided> {
    const entry = this.entries.get(key);
    if (entry === undefined) return { outcome: 'unknown' };
    const { decided, change } = steps.decide(entry.row, decision, this.nowMs);
    this.change(entry, change);
    return decided;
  }

  async look(key: string, look: steps.Look): Promise<boolean> {
    const entry = this.entries.get(key);
    const change = entry && steps.look(entry.row, look, this.nowMs);
    this.change(entry, change);
    return change !== undefined;
  }

  override async stopWaiting(key: string, attempts: number): Promise<boolean> {
    const entry = this.entries.get(key);
    const change = entry && steps.stopWaiting(entry.row, attempts);
    this.change(entry, change);
    return change === false;
  }

  async read(key: string): Promise<PaymentRow | undefined> {
    const entry = this.entries.get(key);
    return entry && this.#read(entry.row);
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
    const listed = [...this.entries.values()].filter(({ row }) => isListed(row));
    const all = listed.map(({ key, row }) => ({
      key,
      stored: this.#read(row) as PaymentRow,
      place: { atMs: row[time] ?? 0, names: [key] },
      listedAtMs: nowMs,
    }));
    return pageOf(all, page, nowMs);
  }

  #read(row: Row): PaymentRow | undefined {
    return steps.visible(row, this.nowMs);
  }
}

function isOfKind(kind: ListKind, row: Row, nowMs: number): boolean {
  const { state, foundStatus, leaseUntilMs = 0 } = row;
  if (kind === 'unresolved') {
    return (state === 'unresolved' || state === 'sending') && leaseUntilMs <= nowMs;
  }
  if (state !== 'missed') return state === kind;
  return kind === (foundStatus === FOUND_PAID ? 'missed-paid' : 'missed');
}
