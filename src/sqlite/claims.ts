import type { Step } from '../store/payment-steps.js';
import type { Sql } from '../store/sql/sql.js';

/**
 * The table of claims: one row for each order of which a change is being processed. Work runs outside a transaction,
 * so a lease keeps others out. Each step runs in a transaction that has the write lock.
 */
export class Claims {
  readonly table: string;
  /** Each with its type. */
  readonly columns: Readonly<Record<string, string>> = {
    merchant_payment_reference: 'TEXT NOT NULL',
    owner: 'TEXT NOT NULL',
    until_ms: 'bigint NOT NULL',
    lease_ms: 'bigint NOT NULL',
  };
  readonly #sql: Sql;

  constructor(prefix: string, sql: Sql) {
    this.table = `"${prefix}claims"`;
    this.#sql = sql;
  }

  get create(): string {
    const columns = Object.entries(this.columns).map(([name, type]) => `  ${name} ${type},\n`);
    return `-- One row for each order of which a change is being processed: by whom, and the end of the lease.
CREATE TABLE IF NOT EXISTS ${this.table} (
${columns.join('')}  PRIMARY KEY (merchant_payment_reference)
) WITHOUT ROWID`;
  }

  /** Whether another process holds the order. */
  *isHeld(key: string, nowMs: number): Step<boolean> {
    const [json] = yield this.#read(key, 'until_ms, lease_ms');
    if (json === undefined) return false;
    const [untilMs, leaseMs] = JSON.parse(json) as [number, number];
    // The clock has stepped back: a claim never has more left than its duration. It does not count as expired,
    // because its holder may still be alive, and then renews it.
    if (untilMs > nowMs + leaseMs) yield this.#extend(key, nowMs + leaseMs);
    return untilMs > nowMs;
  }

  /** Claims an order that no owner holds. */
  *take(key: string, owner: string, nowMs: number, leaseMs: number): Step<void> {
    yield `INSERT OR REPLACE INTO ${this.table} (${Object.keys(this.columns).join(', ')})
VALUES (${this.#sql.values([key, owner, nowMs + leaseMs, leaseMs])})`;
  }

  /** Returns false if another owner holds it. */
  *renew(key: string, owner: string, untilMs: number): Step<boolean> {
    const isOwn = yield* this.#isOwn(key, owner);
    if (isOwn) yield this.#extend(key, untilMs);
    return isOwn;
  }

  /** Returns false if another owner holds it. */
  *release(key: string, owner: string): Step<boolean> {
    const isOwn = yield* this.#isOwn(key, owner);
    if (isOwn) yield `DELETE FROM ${this.table} WHERE ${this.#isOrder(key)}`;
    return isOwn;
  }

  /** Forgets the claims that dead processes have left. */
  *prune(beforeMs: number): Step<void> {
    yield `DELETE FROM ${this.table} WHERE until_ms < ${beforeMs}`;
  }

  *#isOwn(key: string, owner: string): Step<boolean> {
    const [json] = yield this.#read(key, 'owner');
    return json === JSON.stringify([owner]);
  }

  #read(key: string, columns: string): string {
    return `SELECT json_array(${columns}) FROM ${this.table} WHERE ${this.#isOrder(key)}`;
  }

  #extend(key: string, untilMs: number): string {
    return `UPDATE ${this.table} SET until_ms = ${untilMs} WHERE ${this.#isOrder(key)}`;
  }

  #isOrder(key: string): string {
    return this.#sql.match({ merchant_payment_reference: key });
  }
}
