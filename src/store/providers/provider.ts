import { InvalidOptionError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
import type { WorkEnd } from './work-view.js';

/** Time limits in milliseconds, for ORMs that accept them. */
export interface TransactionLimits {
  /** Until the ORM has a connection and has begun the transaction. */
  readonly acquireTimeoutMs: number;
  /** From then on, until the transaction has ended. */
  readonly transactionTimeoutMs: number;
}

/**
 * Lets a store use an ORM or a driver instead of a pool, as made by `fromDrizzle`, `fromKysely` and the like: `tx` is the
 * ORM's own transaction. `record` accepts any `Taken`, which is wider if the ORM has several kinds of transactions.
 */
export interface TransactionProvider<Tx, Taken = Tx> {
  /** The ORM's name, for messages: `Drizzle`. */
  readonly orm: string;
  /** The object it was created from. */
  readonly database: object;
  /** What the store sends first in a transaction, if the ORM does not begin it at READ COMMITTED by itself. */
  readonly firstStatement?: string;
  /** Runs `body` in a transaction at READ COMMITTED. Rolls back if `body` rejects, and commits otherwise. */
  transaction(body: (tx: Tx) => Promise<void>, limits: TransactionLimits): Promise<unknown>;
  /** Runs one statement without parameters: in a transaction, or on {@link database}, outside of one. */
  query(on: Tx | object, text: string): Promise<readonly object[]>;
  /** The transaction for the work, on a view of its connection. */
  forWork(tx: Tx, end: WorkEnd): Tx | Promise<Tx>;
  /** The transaction's connection, whose loss ends the work, if the ORM shows it. */
  connectionOf?(tx: Tx): unknown;
  /** Whether `value` is a transaction of the ORM, and not the database itself, whose writes commit on their own. */
  isTransaction(value: unknown): value is Taken;
}

// A global symbol, because an application may have loaded the package twice.
const BRAND = Symbol.for('merchant-payments.transaction-provider');

/**
 * @param database what was passed to the from… function
 * @throws {InvalidOptionError} when that is another value, or a transaction
 */
export function makeProvider<Tx, Taken = Tx>(
  database: object,
  wanted: Wanted,
  made: Omit<TransactionProvider<Tx>, 'orm' | 'database' | 'isTransaction'>,
): TransactionProvider<Tx, Taken> {
  assertWanted(database, wanted);
  const { orm, isTransaction } = wanted;
  const provider = { orm, isTransaction, ...made };
  Object.defineProperty(provider, BRAND, { value: true });
  // Drivers show the database's password, and a getter is not followed by what shows an object.
  Object.defineProperty(provider, 'database', { get: () => database });
  return Object.freeze(provider) as unknown as TransactionProvider<Tx, Taken>;
}

export function isProvider<Tx>(value: unknown): value is TransactionProvider<Tx> {
  return typeof value === 'object' && value !== null && BRAND in value;
}

/** Whether `value` is an object or a function with all of these methods. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}

/** What a from… function takes. */
interface Wanted {
  readonly orm: string;
  /** The function: `fromDrizzle`. */
  readonly by: string;
  /** Its parameter: `db`. */
  readonly option: string;
  /** What it must be: `a Drizzle database, as returned by drizzle(pool)`. */
  readonly expected: string;
  readonly methods: readonly string[];
  isTransaction(value: unknown): boolean;
}

function assertWanted(value: object | null | undefined, wanted: Wanted): void {
  const { option, methods, isTransaction } = wanted;
  // A transaction may lack some of the methods.
  const isGiven = value !== undefined && value !== null;
  if (isGiven && isTransaction(value)) refuse(wanted, `a transaction; pass ${option} itself`);
  if (!hasMethods(value, methods)) refuse(wanted, describeValue(value));
}

/** @throws {InvalidOptionError} naming what was passed to a from… function */
export function refuse({ by, option, expected }: Wanted, received: string): never {
  const message = `${option} must be ${expected}; ${by} received ${received}`;
  throw new InvalidOptionError(option, message);
}

/** Extracts the rows from the answer to a raw statement, which every driver wraps differently. */
export function rowsOf(answer: unknown): readonly object[] {
  if (!Array.isArray(answer)) {
    const { rows } = (answer ?? {}) as { rows?: unknown };
    return Array.isArray(rows) ? rows : [];
  }
  // mysql2 returns rows and fields, or a header without fields if there are no rows.
  const [first, fields] = answer;
  if (answer.length !== 2 || (fields !== undefined && !Array.isArray(first))) return answer;
  return Array.isArray(first) ? first : [];
}

/** A method of each ORM's database object, and the function that takes it. */
const ORMS = [
  ['selectFrom', 'fromKysely(db)'],
  ['createQueryRunner', 'fromTypeOrm(dataSource)'],
  ['$transaction', 'fromPrisma(prisma)'],
  ['queryBuilder', 'fromKnex(knex)'],
  ['unsafe', 'fromPostgresJs(sql)'],
  // knex has it too, and is found first.
  ['insert', 'fromDrizzle(db)'],
] as const;

/** What to pass in place of an ORM's own object; undefined for anything else. */
export function toPassFor(value: unknown): string | undefined {
  return ORMS.find(([method]) => method in Object(value))?.[1];
}
