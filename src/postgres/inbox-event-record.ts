import { StoreError } from '../errors.js';
import { LONGEST_TIMER_MS } from '../protocol/options.js';
import { sqlStateOf } from './failures.js';
import { type OpenTransaction, onlyText } from './transactions.js';
import type { SeenFailures } from '../store/attempt.js';
import { assertUsedUp } from '../store/store-failure.js';
import type { StoredEvent } from '../store/stored-event.js';
import { parseSeen } from '../store/stored-failure.js';
import type { QuotedTables, Timeouts } from './inbox-options.js';
import { explainMissing } from './inbox-schema.js';
import { callFunctions, type HeldClaim, withoutFunctions } from './inbox-statements.js';

/** The result of a claim. With `claimed`, the payment is locked until the transaction ends. */
export type Claim = Claimed | Unclaimed;

interface Claimed {
  readonly found: 'claimed';
  readonly stale: boolean;
  readonly seen: SeenFailures;
  /** The statements that record the event as processed. */
  readonly record: readonly string[];
}

/** Why the work does not run, or not yet. */
export interface Unclaimed {
  readonly found: 'duplicate' | 'stale' | 'busy' | 'no functions';
}

const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';
const BUSY_STATES: readonly unknown[] = [LOCK_NOT_AVAILABLE, DEADLOCK_DETECTED];
// By a statement_timeout or a person.
const QUERY_CANCELED = '57014';
const CANCELLED_BY = { what: 'Postgres', limit: 'statement_timeout' };

const UNDEFINED_SCHEMA = '3F000';
const UNDEFINED_FUNCTION = '42883';
const INSUFFICIENT_PRIVILEGE = '42501';
const NO_FUNCTIONS: readonly unknown[] = [
  UNDEFINED_SCHEMA,
  UNDEFINED_FUNCTION,
  INSUFFICIENT_PRIVILEGE,
];

type EventTimeouts = Pick<Timeouts, 'commandTimeoutMs' | 'idleTimeoutMs'>;

/** Claims and records events in the tables. */
export class EventRecord {
  readonly #called: ReturnType<typeof callFunctions>;
  readonly #written: ReturnType<typeof withoutFunctions>;
  readonly #timeouts: EventTimeouts;
  #hasFunctions = true;

  constructor(tables: QuotedTables, timeouts: EventTimeouts) {
    this.#timeouts = timeouts;
    this.#called = callFunctions(tables);
    this.#written = withoutFunctions(tables);
  }

  /** Makes the next claim try the functions again, since they may exist now. */
  expectFunctions(): void {
    this.#hasFunctions = true;
  }

  /**
   * Begins the transaction, locks the payment and decides whether the event runs. After
   * `no functions`, call it again in a new transaction: it then uses plain statements.
   *
   * @throws {StoreError} `STORE_FAILED` when a statement was cancelled before `lockTimeoutMs` was over
   */
  async claim(
    transaction: Pick<OpenTransaction<unknown>, 'begin'>,
    event: StoredEvent,
    lockTimeoutMs: number,
  ): Promise<Claim> {
    const { commandTimeoutMs, idleTimeoutMs } = this.#timeouts;
    const form = this.#hasFunctions ? this.#called : this.#written;
    const askedAtMs = performance.now();
    try {
      const timeoutMs = Math.min(lockTimeoutMs + commandTimeoutMs, LONGEST_TIMER_MS);
      const statements = form.claim(event, { lockTimeoutMs, idleTimeoutMs });
      const rows = await transaction.begin(statements, timeoutMs);
      const { found, held, seen } = parseAnswer(onlyText(rows));
      if (found === 'duplicate') return { found };
      const stale = found === 'stale';
      if (stale && !event.processStale) return { found };
      return { found: 'claimed', stale, seen, record: form.record(event, held) };
    } catch (error) {
      const state = sqlStateOf(error);
      if (state === QUERY_CANCELED) {
        const waitedMs = performance.now() - askedAtMs;
        assertUsedUp({ waitedMs, lockTimeoutMs }, CANCELLED_BY, error);
        return { found: 'busy' };
      }
      if (BUSY_STATES.includes(state)) return { found: 'busy' };
      if (form === this.#called && NO_FUNCTIONS.includes(state)) {
        this.#hasFunctions = false;
        return { found: 'no functions' };
      }
      throw explainMissing(error);
    }
  }
}

type Answer =
  | { readonly found: 'duplicate'; readonly held?: undefined; readonly seen?: undefined }
  | {
      readonly found: 'claimed' | 'stale';
      readonly held: HeldClaim;
      readonly seen: SeenFailures;
    };

function parseAnswer(answer: string): Answer {
  if (answer === 'duplicate') return { found: 'duplicate' };
  const [found, transactionId = '', role = '', home = '', words, ...more] = parseList(answer);
  if (found !== 'claimed' && found !== 'stale') throw unknownAnswer();
  if (words === undefined || more.length > 0) throw unknownAnswer();
  const seen = parseSeen(words);
  return { found, held: { transactionId, role, home, hasFailed: seen.own !== undefined }, seen };
}

function parseList(answer: string): readonly (string | undefined)[] {
  try {
    const list: unknown = JSON.parse(answer);
    if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list;
  } catch {}
  throw unknownAnswer();
}

function unknownAnswer(): StoreError {
  return new StoreError(
    'STORE_FAILED',
    "The claim of a callback returned an answer that this version does not know, so nothing was processed; look for another version's functions in the schema, or another function of that name",
  );
}
