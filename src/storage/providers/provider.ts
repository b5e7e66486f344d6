import { InvalidOptionError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';

/** How long the ORM may take, in milliseconds, where it can be told so. */
export interface TransactionLimits {
  /** Until a connection is there and the transaction has begun. */
  readonly acquireTimeoutMs: number;
  /** From then on, until the transaction is over. */
  readonly transactionTimeoutMs: number;
}

/**
 * An ORM, or a driver, as an inbox and an outbox take it in place of a pool: it owns the transaction,
 * and `tx` is its own transaction object. Made by `fromDrizzle`, `fromKysely` and the like. An inbox gives
 * a `Tx`; an outbox takes any `Taken`, which is wider where the ORM has several kinds of transactions.
 */
export interface TransactionProvider<Tx, Taken = Tx> {
  /** The ORM's name, for messages: `Drizzle`. */
  readonly orm: string;
  /** The kind of its database, where the ORM says so: `postgres`, `mysql`, or a word of the ORM. */
  readonly engine: string | undefined;
  /** What it was made from. Two providers of one object share a database. */
  readonly database: object;
  /** Whether the database is one connection, so that every transaction waits for all others. */
  readonly isSingle: boolean;
  /**
   * Runs `body` in a transaction at READ COMMITTED, which is rolled back when it throws, and committed
   * otherwise.
   */
  transaction(body: (tx: Tx) => Promise<void>, limits: TransactionLimits): Promise<unknown>;
  /** Runs one statement without values: in a transaction, or on {@link database} by itself. */
  query(on: Tx | object, text: string): Promise<readonly object[]>;
  /** Whether `value` is a transaction of the ORM: not the database itself, on which a write stands alone. */
  isTransaction(value: unknown): value is Taken;
  /**
   * Calls `lost` when the connection of a transaction is lost. Gives what ends that; undefined when the
   * driver does not say.
   */
  listen(tx: Tx, lost: (error: Error) => void): Promise<(() => void) | undefined>;
  /**
   * Whether {@link transaction} rejects by itself when the connection is lost, and must not be asked to
   * roll back then: postgres.js would write to the closed connection, and Node end the process.
   */
  readonly rejectsOnLoss: boolean;
  /** Whether the ORM knows that a transaction has ended: it then refuses statements itself. */
  hasEnded(tx: Tx): boolean;
}

// Not a class or a symbol of this module: an application may have loaded the package twice.
const BRAND = Symbol.for('merchant-payments.transaction-provider');

type Optional = 'engine' | 'isSingle' | 'rejectsOnLoss' | 'hasEnded';
type Made<Tx> = Omit<TransactionProvider<Tx>, 'listen' | 'isTransaction' | Optional> &
  Partial<Pick<TransactionProvider<Tx>, Optional>> & {
    readonly isTransaction: (value: unknown) => boolean;
    /** The connection of a transaction, if the driver lets us have it. */
    readonly connectionOf?: (tx: Tx) => unknown;
  };

export function makeProvider<Tx, Taken = Tx>({
  connectionOf,
  isTransaction,
  ...made
}: Made<Tx>): TransactionProvider<Tx, Taken> {
  const provider: TransactionProvider<Tx, Taken> = {
    engine: undefined,
    isSingle: false,
    rejectsOnLoss: false,
    hasEnded: () => false,
    ...made,
    isTransaction: (value): value is Taken => isTransaction(value),
    async listen(tx, lost) {
      const connection = await connectionOf?.(tx);
      if (!isEmitter(connection)) return undefined;
      const ended = () => lost(new Error('the server closed the connection'));
      connection.on('error', lost);
      connection.on('end', ended);
      return () => {
        connection.removeListener('error', lost);
        connection.removeListener('end', ended);
      };
    },
  };
  Object.defineProperty(provider, BRAND, { value: true });
  return Object.freeze(provider);
}

export function isProvider<Tx>(value: unknown): value is TransactionProvider<Tx> {
  return typeof value === 'object' && value !== null && BRAND in value;
}

interface Emitter {
  on(event: 'error' | 'end', listener: (error: Error) => void): unknown;
  removeListener(event: 'error' | 'end', listener: (error: Error) => void): unknown;
}

function isEmitter(value: unknown): value is Emitter {
  return hasMethods(value, ['on', 'removeListener']);
}

/** Whether `value` is an object, or a function, that has all of these methods. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}

/** What a from… function takes, for its messages. */
interface Wanted {
  /** The function: `fromDrizzle`. */
  readonly by: string;
  /** Its parameter: `db`. */
  readonly option: string;
  /** What it must be: `a Drizzle database, as drizzle(pool) gives it`. */
  readonly expected: string;
}

/** @throws {InvalidOptionError} saying what kind of value was given to a from… function */
export function refuse(wanted: Wanted, value: unknown): never {
  throw notWanted(wanted, describeValue(value));
}

/** @throws {InvalidOptionError} naming what was given to a from… function, and what to do */
export function refuseKind(wanted: Wanted, kind: string, remedy: string): never {
  throw notWanted(wanted, `${kind}; ${remedy}`);
}

function notWanted({ by, option, expected }: Wanted, received: string): InvalidOptionError {
  return new InvalidOptionError(
    option,
    `${option} must be ${expected}; ${by} received ${received}`,
  );
}

/** The rows in the answer to a raw statement, which every driver wraps in its own way. */
export function rowsOf(answer: unknown): readonly object[] {
  if (!Array.isArray(answer)) {
    const { rows } = (answer ?? {}) as { rows?: unknown };
    return Array.isArray(rows) ? rows : [];
  }
  // mysql2 gives rows and fields, and a header without fields where there are no rows.
  const [first, fields] = answer;
  if (answer.length !== 2 || (fields !== undefined && !Array.isArray(first))) return answer;
  return Array.isArray(first) ? first : [];
}
