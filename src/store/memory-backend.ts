import type { Backend } from './backend.js';
import { MemoryCallbacks, type Row } from './memory-callbacks.js';
import type {
  Claim,
  Claimed,
  Decided,
  Decision,
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
    const secondUpdatedAtUs = this.secondUpdatedAtUs(key, finding);
    const known = { isPaid: false, isListed: secondUpdatedAtUs !== undefined };
    const settled = steps.settle(this.rows.get(key), finding, known);
    this.settleOrder(key, finding, { settled, secondUpdatedAtUs });
  }

  async resolve(key: string, decision: Decision, attempts: number): Promise<Decided> {
    const row = this.rows.get(key);
    if (row === undefined) return { outcome: 'unknown' };
    const { decided, change } = steps.resolve(row, decision, attempts, this.nowMs);
    if (change !== undefined) this.change(key, row, change);
    return decided;
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
    const isUnresolved = kind === 'unresolved';
    const time = isUnresolved ? 'sentAtMs' : 'changedAtMs';
    const all = [...this.rows].flatMap(([key, row]) => {
      const stored = this.#read(row);
      const isLeased = (row.leaseUntilMs ?? 0) > nowMs;
      if (stored === undefined || row.state !== kind || (isUnresolved && isLeased)) return [];
      return [{ key, stored, place: { atMs: row[time] ?? 0, names: [key] } }];
    });
    return this.page(all, page);
  }

  override async stopWaiting(key: string): Promise<void> {
    const row = this.rows.get(key);
    if (row?.state === 'unheard') this.change(key, row, { state: 'created' });
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
