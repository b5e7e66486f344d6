import type { StoreError } from '../errors.js';
import {
  type AnyMethod,
  type Dialect,
  EMITTER_METHODS,
  type NestedTransactions,
  type Probe,
  runNested,
} from '../store/sql/nested-transactions.js';
import { commandIn } from './commands.js';
import {
  DEADLOCK,
  errnoOf,
  failures,
  LOCK_WAIT_TIMEOUT,
  rolledBackByDeadlock,
  rolledBackByTimeout,
} from './failures.js';
import type { MysqlQueryable } from './pool.js';
import { statusOf } from './rows.js';

/** Runs `work` on a view of `connection` on which transactions are savepoints: see {@link runNested}. */
export function withSavepoints<Tx extends MysqlQueryable>(
  connection: Tx,
  work: (tx: Tx) => Promise<void>,
): Promise<void> {
  return runNested(dialect, (nested) => viewOf(connection, nested), work);
}

const dialect: Dialect = {
  commandIn,
  endedBy,
  probeAfter,
  // Rows and columns.
  valuesOf: (answer) => answer as unknown[],
};

/** Each answer without rows tells whether a transaction is open. */
function endedBy(answer: unknown): StoreError | undefined {
  if (errnoOf(answer) === DEADLOCK) return rolledBackByDeadlock(answer);
  const [given] = Array.isArray(answer) ? answer : [];
  return statusOf(given)?.isInTransaction === false ? failures.transactionEnded() : undefined;
}

/** A lock wait timeout rolls back one statement, or the whole transaction with `innodb_rollback_on_timeout`. */
function probeAfter(error: unknown): Probe | undefined {
  if (errnoOf(error) !== LOCK_WAIT_TIMEOUT) return undefined;
  return { statement: 'DO 0', end: rolledBackByTimeout(error) };
}

type Methods = Record<PropertyKey, unknown>;

// Methods that begin or end a transaction, with the equivalent statement.
const TRANSACTION_METHODS: ReadonlyMap<PropertyKey, string> = new Map([
  ['beginTransaction', 'BEGIN'],
  ['commit', 'COMMIT'],
  ['rollback', 'ROLLBACK'],
]);
// These end the session, or reset its state.
const SESSION_METHODS: ReadonlySet<PropertyKey> = new Set([
  'changeUser',
  'reset',
  'end',
  'close',
  'destroy',
]);

/** A proxy, because it is cheap to create, and most work sends only one or two statements. */
function viewOf<Tx extends MysqlQueryable>(connection: Tx, nested: NestedTransactions): Tx {
  const inPlace: AnyMethod = (sql) => connection.query(sql as string);
  const view = new Proxy(
    connection as object,
    {
      get(target: Methods, name) {
        const method = target[name];
        if (name === 'query' || name === 'execute') {
          const send: AnyMethod = (...sent) => (method as AnyMethod).apply(target, sent);
          return (...args: unknown[]) => nested.send(send, args, inPlace);
        }
        if (SESSION_METHODS.has(name)) return async () => refuse(nested, name);
        // The underlying callback connection, which some ORMs use.
        if (name === 'connection' && isObject(method)) {
          core ??= coreView(method, view, nested, inPlace);
          return core;
        }
        return common(target, name, nested, inPlace);
      },
    } as ProxyHandler<object>,
  );
  let core: object | undefined;
  return view as Tx;
}

function coreView(
  connection: object,
  promised: object,
  nested: NestedTransactions,
  inPlace: AnyMethod,
): object {
  return new Proxy(connection, {
    get(target: Methods, name) {
      if (name === 'query' || name === 'execute') {
        return (...args: unknown[]) => sendByCallback(target, name, args, nested, inPlace);
      }
      if (SESSION_METHODS.has(name)) {
        return (...args: unknown[]) => refuseByCallback(nested, name, args);
      }
      if (name === 'promise') return () => promised;
      return common(target, name, nested, inPlace);
    },
  } as ProxyHandler<object>);
}

/** The properties that both kinds of connection have. */
function common(
  target: Methods,
  name: PropertyKey,
  nested: NestedTransactions,
  inPlace: AnyMethod,
): unknown {
  // An ORM releases its connection, but this one belongs to the store.
  if (name === 'release') return () => undefined;
  const statement = TRANSACTION_METHODS.get(name);
  if (statement !== undefined) {
    return (...args: unknown[]) => nested.send(inPlace, [statement, ...args], inPlace);
  }
  const value = target[name];
  return EMITTER_METHODS.includes(name) && typeof value === 'function' ? value.bind(target) : value;
}

function sendByCallback(
  target: Methods,
  name: 'query' | 'execute',
  args: unknown[],
  nested: NestedTransactions,
  inPlace: AnyMethod,
): unknown {
  // Not the result of `send`, because mysql2's command has a then() that throws.
  let command: Emitter | undefined;
  const send: AnyMethod = () => {
    const answered = nested.begin(inPlace);
    const sent = args.map((arg) => (typeof arg === 'function' ? observed(arg, answered) : arg));
    command = (target[name] as AnyMethod).apply(target, sent) as Emitter | undefined;
    // Without a callback, it is a streamed query.
    if (!args.some((arg) => typeof arg === 'function')) {
      let failure: unknown;
      command?.once('error', (error) => {
        failure = error;
      });
      command?.once('end', () => answered(failure));
    }
  };
  const answer = nested.send(send, args, inPlace);
  return command ?? answer;
}

function refuse(nested: NestedTransactions, name: PropertyKey): never {
  throw nested.refuse(`${String(name)}()`);
}

function refuseByCallback(nested: NestedTransactions, name: PropertyKey, args: unknown[]): void {
  const callback = args.find((arg) => typeof arg === 'function') as AnyMethod | undefined;
  if (callback === undefined) refuse(nested, name);
  else callback(nested.refuse(`${String(name)}()`));
}

interface Emitter {
  once(event: string, listener: (value?: unknown) => void): unknown;
}

/** Wraps the callback: calls `answered` first, and waits for its probe. */
function observed(
  callback: unknown,
  answered: (answer: unknown) => Promise<void> | undefined,
): AnyMethod {
  return (error, ...values) => {
    const callBack = () => (callback as AnyMethod)(error, ...values);
    const probed = answered(error ?? values);
    return probed === undefined ? callBack() : void probed.then(callBack);
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
