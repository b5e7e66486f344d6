import type { Mutant } from './mutant-table.js';

const PROCESS = 'src/sqlite/lease-process.ts';
const CLAIMS = 'src/sqlite/claims.ts';
const LEASE = 'src/store/lease/lease.ts';
const TRANSACTION = 'src/store/sql/server-store.ts';
const STATEMENTS = 'src/store/sql/change-statements.ts';

/** Of what processes a change, under SQLite's lease or in a transaction. */
export const processingMutants: readonly Mutant[] = [
  {
    file: PROCESS,
    from: "if (yield* claims.isHeld(this.#order, nowMs)) return { outcome: 'busy' };",
    to: '',
    scene: 'a lease',
  },
  {
    file: PROCESS,
    from: "    if (action === 'duplicate') return { outcome: action };\n",
    to: '',
    redundant:
      'the look before it, without the lock, finds the same: nobody comes between them here',
  },
  {
    file: PROCESS,
    from: "if (action === 'parked') return { outcome: action };",
    to: '',
    scene: 'a lease',
  },
  {
    file: PROCESS,
    from: 'for (const statement of statements.settle(this.#change, decision)) yield statement;',
    to: '',
    scene: 'a lease',
  },
  {
    file: PROCESS,
    from: 'if (!(yield* claims.release(this.#order, this.#owner))) throw leaseLost();',
    to: 'yield* claims.release(this.#order, this.#owner);',
    scene: 'a lease, a stall',
  },
  {
    file: PROCESS,
    from: 'if (!(yield* claims.release(this.#order, this.#owner))) return false;',
    to: 'yield* claims.release(this.#order, this.#owner);',
    redundant: 'the key of the table of changes refuses a second result',
  },
  {
    file: CLAIMS,
    from: 'return untilMs > nowMs;',
    to: 'return true;',
    scene: 'a lease, a crash',
  },
  {
    file: CLAIMS,
    from: 'return json === JSON.stringify([owner]);',
    to: 'return json !== undefined;',
    scene: 'a lease, a stall',
  },
  {
    file: CLAIMS,
    from: 'if (isOwn) yield this.#extend(key, untilMs);',
    to: '',
    scene: 'a lease',
  },
  {
    file: CLAIMS,
    from: 'if (isOwn) yield `DELETE',
    to: 'if (false) yield `DELETE',
    scene: 'a lease',
  },
  {
    file: LEASE,
    from: 'if (askedAtMs >= renewUntilMs) return lose();',
    to: '',
    redundant: 'the timer of the expiry fires then, too',
  },
  {
    file: LEASE,
    from: 'expiry = setTimerAt(Math.min(atMs, renewUntilMs), lose);',
    to: 'expiry = setTimerAt(atMs, lose);',
    redundant: 'the renewal looks at the end, too',
  },
  {
    file: LEASE,
    from: 'expiry = setTimerAt(Math.min(atMs, renewUntilMs), lose);',
    to: '',
    redundant:
      'a process that lives renews in time, and one that has stood still learns of it as it renews',
  },
  {
    file: LEASE,
    from: 'if (renewed === false) return lose();',
    to: '',
    redundant: 'the result of the work is refused',
  },
  {
    file: LEASE,
    from: 'confirmedAtMs = askedAtMs;\n      expireAt(confirmedAtMs + safeForMs);',
    to: '',
    scene: 'a lease',
  },
  {
    file: LEASE,
    from: 'renewal = setTimerAt((renewed === true ? askedAtMs : performance.now()) + pauseMs, renew);',
    to: '',
    scene: 'a lease',
  },
  { file: LEASE, from: 'if (!finished) throw leaseLost();', to: '', scene: 'a lease, a stall' },
  {
    file: STATEMENTS,
    from: '(failure === undefined ? [] : [this.#texts.forget(literals)])',
    to: '[]',
    scene: 'a transaction',
  },
  {
    file: TRANSACTION,
    from: "if (action !== 'run') {",
    to: "if (action === 'parked') {",
    scene: 'a transaction',
  },
  {
    file: TRANSACTION,
    from: "if (decision.action === 'duplicate') return { end: 'rollback', result: failed };",
    to: '',
    scene: 'a transaction, a loss',
  },
  {
    file: TRANSACTION,
    from: 'failed = { error };\n          throw error;',
    to: 'failed = { error };',
    scene: 'a transaction',
  },
  {
    file: TRANSACTION,
    from: '[...this.#statements.settle(change, decision)];',
    to: '[] as string[];',
    scene: 'a transaction',
  },
];
