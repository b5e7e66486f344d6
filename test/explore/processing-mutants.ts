import { listMutants } from './mutant.js';

/** Of what processes a change, under SQLite's lease or in a transaction. */
export const processingMutants = listMutants({
  'src/sqlite/lease-process.ts': {
    "if (yield* claims.isHeld(this.#order, nowMs)) return { outcome: 'busy' };": { '': 'a lease' },
    "    if (action === 'duplicate') return { outcome: action };\n": {
      '': 'none: the look before it, without the lock, finds the same: nobody comes between them here',
    },
    "if (action === 'parked') return { outcome: action };": { '': 'a lease' },
    'for (const statement of statements.settle(this.#change, decision)) yield statement;': {
      '': 'a lease',
    },
    'if (!(yield* claims.release(this.#order, this.#owner))) throw leaseLost();': {
      'yield* claims.release(this.#order, this.#owner);': 'a lease, a stall',
    },
    'if (!(yield* claims.release(this.#order, this.#owner))) return false;': {
      'yield* claims.release(this.#order, this.#owner);':
        'none: the key of the table of changes refuses a second result',
    },
  },
  'src/sqlite/claims.ts': {
    'return untilMs > nowMs;': { 'return true;': 'a lease, a crash' },
    'return json === JSON.stringify([owner]);': {
      'return json !== undefined;': 'a lease, a stall',
    },
    'if (isOwn) yield this.#extend(key, untilMs);': { '': 'a lease' },
    'if (isOwn) yield `DELETE': { 'if (false) yield `DELETE': 'a lease' },
  },
  'src/store/lease/lease.ts': {
    'if (askedAtMs >= renewUntilMs) return lose();': {
      '': 'none: the timer of the expiry fires then, too',
    },
    'expiry = setTimerAt(Math.min(atMs, renewUntilMs), lose);': {
      'expiry = setTimerAt(atMs, lose);': 'none: the renewal looks at the end, too',
      '': 'none: a process that lives renews in time, and one that has stood still learns of it as it renews',
    },
    'if (renewed === false) return lose();': {
      '': 'none: the result of the work is refused',
    },
    'confirmedAtMs = askedAtMs;\n      expireAt(confirmedAtMs + safeForMs);': { '': 'a lease' },
    'renewal = setTimerAt((renewed === true ? askedAtMs : performance.now()) + pauseMs, renew);': {
      '': 'a lease',
    },
    'if (!finished) throw leaseLost();': { '': 'a lease, a stall' },
  },
  'src/store/sql/change-statements.ts': {
    '(failure === undefined ? [] : [this.#texts.forget(literals)])': { '[]': 'a transaction' },
  },
  'src/store/sql/server-store.ts': {
    "if (action !== 'run') {": { "if (action === 'parked') {": 'a transaction' },
    "if (decision.action === 'duplicate') return { end: 'rollback', result: failed };": {
      '': 'a transaction, a loss',
    },
    'failed = { error };\n          throw error;': { 'failed = { error };': 'a transaction' },
    '[...this.#statements.settle(change, decision)];': { '[] as string[];': 'a transaction' },
  },
});
