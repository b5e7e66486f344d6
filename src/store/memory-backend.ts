import type { Backend } from './backend.js';
import { MemoryCallbacks, type Row } from './memory-callbacks.js';
import type {
  Claim,
  Claimed,
  Decided,
  Decision,
  DueKind,
  Finding,
  Intent,
  Listed,
  ListKind,
  Page,
  PaymentRow,
  Result,
} from './payment-row.js';
import * as steps from './steps.js';

/** A store in this process's memory: what its callbacks do, and the payments that it sends. */
export class MemoryBackend extends MemoryCallbacks implements Backend<undefined> {
  readonly needsTransaction = false;

  async claim({ key, ...wanted }: Claim): Promise<Claimed> {
    const { intent } = wanted;
    const row = this.rows.get(key) ?? (intent && this.insert(key, intent, 'recorded'));
    if (row === undefined) return { granted: false, stored: undefined };
    const change = steps.claim(row, wanted, this.nowMs);
    if (change !== undefined) this.change(key, row, change);
    return { granted: change?.state === 'sending', stored: this.#read(row) };
  }

  async record(key: string, intent: Intent): Promise<PaymentRow | undefined> {
    const row = this.rows.get(key);
    if (row === undefined) {
      this.insert(key, intent, 'recorded');
      return undefined;
    }
    const change = steps.record(row, intent, this.nowMs);
    if (change === undefined) return this.#read(row);
    this.change(key, row, change);
    return undefined;
  }

  async finish(key: string, owner: string, result: Result): Promise<PaymentRow | undefined> {
    const row = this.rows.get(key);
    if (row?.owner !== owner) return undefined;
    this.change(key, row, steps.end(result));
    return this.#read(row);
  }

  async settle(key: string, finding: Finding): Promise<void> {
    const known = { isOld: true, second: this.secondOf(key, finding) };
    const settled = steps.settle(this.rows.get(key), { finding, isPaid: false }, known);
    this.settleOrder(key, finding, { settled });
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
        return (row.foundStatus === 'paid' ? 'missed-paid' : 'missed') === kind;
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
