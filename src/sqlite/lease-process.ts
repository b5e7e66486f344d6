import { randomUUID } from 'node:crypto';
import { StoreError } from '../errors.js';
import type { ChangeResult, StoreContext } from '../store/callback-store.js';
import type { Change } from '../store/change.js';
import {
  type ChangeDecision,
  decideChange,
  failureOf,
  type KeptFailure,
  saysSomethingNew,
  toFailed,
} from '../store/change-steps.js';
import { type Lease, leaseLost, runUnderLease } from '../store/lease/lease.js';
import { WorkContext } from '../store/loss.js';
import type { Step } from '../store/payment-steps.js';
import type { ChangeStatements } from '../store/sql/change-statements.js';
import { databaseForms } from '../store/sql/sql.js';
import type { Claims } from './claims.js';
import { isInUse, isLocked } from './database.js';
import { explain, inTransaction, leftOpen, notKept, notRecorded } from './failures.js';
import { type Patience, patienceOf, type SqliteSession } from './session.js';

/** What the process of a change needs. */
export interface ProcessingFile {
  readonly session: SqliteSession;
  readonly statements: ChangeStatements;
  readonly claims: Claims;
  readonly leaseMs: number;
  readonly renewForMs: number;
  readonly now: () => number;
}

/** What a claim finds. */
type Begun = ChangeResult | { readonly decision: ChangeDecision };

// The callback has already failed, and its answer waits for this.
const KEEP_PATIENCE_MS = 2_000;

/**
 * Processes a change under a lease. SQLite has one writer at a time, so the work runs outside any transaction: one
 * transaction claims the order and settles its payment, and one records the change or its failure.
 */
export async function processUnderLease<Tx>(
  file: ProcessingFile,
  change: Change,
  work: (context: StoreContext<Tx | undefined>) => Promise<void>,
): Promise<ChangeResult> {
  const claim = new ChangeClaim(file, change);
  const begun = claim.begin();
  if ('outcome' in begun) return begun;
  return runUnderLease(claim, async (signal) => {
    await work(new WorkContext(undefined, begun.decision, { signal }));
    if (file.session.isInTransaction) throw leftOpen();
  });
}

/** A change that is being processed, and the claim on its order. */
class ChangeClaim implements Lease {
  readonly durationMs: number;
  readonly renewForMs: number;
  readonly askedAtMs = performance.now();
  readonly #file: ProcessingFile;
  readonly #change: Change;
  readonly #owner = randomUUID();
  /** The key of the order, which is claimed for all of its attempts. */
  #order: string;
  #expiresAtMs = 0;

  constructor(file: ProcessingFile, change: Change) {
    this.#file = file;
    this.#change = change;
    this.#order = change.merchantPaymentReference;
    this.durationMs = file.leaseMs;
    this.renewForMs = file.renewForMs;
  }

  begin(): Begun {
    const { session, now, leaseMs } = this.#file;
    try {
      if (session.isInTransaction) throw inTransaction();
      const refused = this.#refuse();
      if (refused !== undefined) return { outcome: refused };
      const begun = session.runOnce(() => this.#begin());
      this.#expiresAtMs = now() + leaseMs;
      return begun;
    } catch (error) {
      if (isLocked(error) || isInUse(error)) return { outcome: 'busy' };
      throw explain(error);
    }
  }

  /** Most deliveries of a processed change say nothing new, and need no write lock. */
  #refuse(): 'duplicate' | undefined {
    const decision = this.#file.session.readOnce(() => this.#look());
    if (decision?.action !== 'duplicate' || saysSomethingNew(decision)) return undefined;
    return decision.action;
  }

  *#begin(): Step<Begun> {
    const { claims, statements, leaseMs } = this.#file;
    // Read the clock here, because the driver may have waited for the write lock.
    const nowMs = this.#file.now();
    const decision = yield* this.#see();
    const { action, order } = decision;
    this.#order = databaseForms.toName(order);
    for (const statement of statements.settle(this.#change, decision)) yield statement;
    if (action === 'duplicate') return { outcome: action };
    if (yield* claims.isHeld(this.#order, nowMs)) return { outcome: 'busy' };
    if (action === 'parked') return { outcome: action };
    yield* claims.take(this.#order, this.#owner, nowMs, leaseMs);
    return { decision };
  }

  /** The failure is stored together with the release of the claim. */
  async fail(error: unknown): Promise<ChangeResult> {
    // Code that has left a transaction open has returned, so that waiting would not end it.
    const isLeftOpen = error instanceof StoreError && error.code === 'TRANSACTION_LOST';
    const patience = patienceOf(isLeftOpen ? 0 : KEEP_PATIENCE_MS, notKept);
    try {
      return toFailed(error, await this.#file.session.runFor(patience, () => this.#keep(error)));
    } catch (storeError) {
      // The answer does not wait any longer: what blocks the file may outlast the lease, which expires by itself.
      this.release().catch(() => undefined);
      return { ...toFailed(error, undefined), notKept: storeError };
    }
  }

  *#keep(error: unknown): Step<KeptFailure | undefined> {
    const { claims, statements } = this.#file;
    if (!(yield* claims.release(this.#order, this.#owner))) throw leaseLost();
    const decision = yield* this.#see();
    const kept = failureOf(this.#change, decision, error);
    for (const statement of kept ? statements.keep(this.#change, decision, kept) : [])
      yield statement;
    return kept;
  }

  async renew(): Promise<boolean> {
    const { session, claims, now, leaseMs } = this.#file;
    // A rollback of the merchant's transaction would undo it.
    if (session.isInTransaction) throw inTransaction();
    const untilMs = now() + leaseMs;
    const isRenewed = session.runOnce(() => claims.renew(this.#order, this.#owner, untilMs));
    if (isRenewed) this.#expiresAtMs = untilMs;
    return isRenewed;
  }

  finish(): Promise<boolean> {
    return this.#file.session.runFor(this.#whileLeased, () => this.#finish());
  }

  *#finish(): Step<boolean> {
    const { claims, statements } = this.#file;
    if (!(yield* claims.release(this.#order, this.#owner))) return false;
    const decision = yield* this.#see();
    for (const statement of statements.record(this.#change, decision)) yield statement;
    return true;
  }

  async release(): Promise<void> {
    const { session, claims } = this.#file;
    await session.runFor(this.#whileLeased, () => claims.release(this.#order, this.#owner));
  }

  *#see(): Step<ChangeDecision> {
    const [lock] = this.#file.statements.claim(this.#change);
    yield lock;
    return (yield* this.#look()) as ChangeDecision;
  }

  /** Returns undefined if nothing is stored about the order. */
  *#look(): Step<ChangeDecision | undefined> {
    const [, read] = this.#file.statements.claim(this.#change);
    const seen = yield* this.#file.statements.see(this.#change, yield read);
    return seen && decideChange(seen, this.#change);
  }

  get #whileLeased(): Patience {
    return {
      mayRetry: () => this.#file.now() < this.#expiresAtMs,
      createTimeout: notRecorded,
    };
  }
}
