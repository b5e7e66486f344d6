import type { InboxError } from '../../errors.js';
import { type AnyMethod, type Dialect, NestedTransactions } from '../nested-transactions.js';
import { commandIn } from './commands.js';
import { DEADLOCK, errnoOf, rolledBackByDeadlock, transactionEnded } from './failures.js';
import type { MysqlQueryable } from './pool.js';

/**
 * Runs `work` on a view of `connection` where a transaction that the work begins is a savepoint: an ORM
 * that is given `tx` begins one for every nested transaction, and its COMMIT would end the inbox's.
 *
 * @throws {InboxError} `TRANSACTION_LOST` when the work tried to end the inbox's transaction, or
 * returned before its own transactions and queries had ended
 */
export async function withSavepoints<Tx extends MysqlQueryable>(
  connection: Tx,
  work: (tx: Tx) => Promise<void>,
): Promise<void> {
  const nested = new NestedTransactions(dialect);
  try {
    await work(viewOf(connection, nested));
  } finally {
    nested.close();
  }
  nested.assertEnded();
}

const dialect: Dialect = {
  commandIn,
  endedBy,
  // Rows and columns.
  valuesOf: (answer) => answer as unknown[],
};

const IN_TRANSACTION = 1;

/** Each answer without rows says whether a transaction is open. */
function endedBy(answer: unknown): InboxError | undefined {
  if (errnoOf(answer) === DEADLOCK) return rolledBackByDeadlock(answer);
  const [given] = Array.isArray(answer) ? answer : [];
  // A CALL gives a list that ends with such an answer.
  const last: unknown = Array.isArray(given) ? given.at(-1) : given;
  const { serverStatus } = (last ?? {}) as { serverStatus?: unknown };
  const isOver = typeof serverStatus === 'number' && (serverStatus & IN_TRANSACTION) === 0;
  return isOver ? transactionEnded() : undefined;
}

type Methods = Record<string, AnyMethod | undefined>;

// They write to fields of the emitter, which must be the connection's and not the view's.
const EMITTER_METHODS = [
  'on',
  'once',
  'off',
  'addListener',
  'prependListener',
  'prependOnceListener',
  'removeListener',
  'removeAllListeners',
];
// What begins and ends a transaction by a method, and the statement that stands for it.
const TRANSACTION_METHODS = {
  beginTransaction: 'BEGIN',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
} as const;
// They end the session, or everything that is set in it.
const SESSION_METHODS = ['changeUser', 'reset', 'end', 'close', 'destroy'];

/** Inherits from the connection, so that `instanceof` and the driver's own methods hold. */
function viewOf<Tx extends MysqlQueryable>(connection: Tx, nested: NestedTransactions): Tx {
  const methods = connection as unknown as Methods;
  const inPlace: AnyMethod = (sql) => methods['query']?.call(connection, sql);
  const view = makeView(connection);
  for (const name of ['query', 'execute']) {
    const method = methods[name];
    if (method === undefined) continue;
    const send: AnyMethod = (...sent) => method.apply(connection, sent);
    view[name] = (...args: unknown[]) => nested.send(send, args, inPlace);
  }
  for (const [name, sql] of Object.entries(TRANSACTION_METHODS)) {
    view[name] = () => nested.send(inPlace, [sql], inPlace);
  }
  for (const name of SESSION_METHODS) {
    view[name] = () => Promise.reject(nested.refuse(`${name}()`));
  }
  const core: unknown = (connection as { connection?: unknown }).connection;
  // The connection with callbacks behind it, which some ORMs take.
  if (isObject(core)) {
    Object.defineProperty(view, 'connection', { value: coreView(core, view, nested, inPlace) });
  }
  return view as unknown as Tx;
}

function makeView(connection: object): Record<string, unknown> {
  const methods = connection as Methods;
  const view: Record<string, unknown> = Object.create(connection);
  for (const name of EMITTER_METHODS) {
    const method = methods[name];
    if (method !== undefined) view[name] = method.bind(connection);
  }
  // An ORM releases the connection that it is given; this one is the inbox's.
  view['release'] = () => undefined;
  return view;
}

function coreView(
  core: object,
  promised: object,
  nested: NestedTransactions,
  inPlace: AnyMethod,
): object {
  const methods = core as Methods;
  const view = makeView(core);
  for (const name of ['query', 'execute']) {
    const send: AnyMethod = (...args) => {
      const answered = nested.begin();
      const sent = args.map((arg) => (typeof arg === 'function' ? observed(arg, answered) : arg));
      const command = methods[name]?.apply(core, sent) as Emitter | undefined;
      // A query that is streamed.
      if (!args.some((arg) => typeof arg === 'function')) {
        command?.once('error', answered);
        command?.once('end', () => answered(undefined));
      }
      // It has a then() that throws.
      return new Sent(command);
    };
    view[name] = (...args: unknown[]) => {
      const sent = nested.send(send, args, inPlace);
      return sent instanceof Sent ? sent.command : sent;
    };
  }
  for (const [name, sql] of Object.entries(TRANSACTION_METHODS)) {
    view[name] = (...args: unknown[]) => nested.send(inPlace, [sql, ...args], inPlace);
  }
  for (const name of SESSION_METHODS) {
    view[name] = (...args: unknown[]) => {
      const refusal = nested.refuse(`${name}()`);
      const callback = args.find((arg) => typeof arg === 'function') as AnyMethod | undefined;
      if (callback === undefined) throw refusal;
      callback(refusal);
    };
  }
  view['promise'] = () => promised;
  return view;
}

class Sent {
  readonly command: unknown;

  constructor(command: unknown) {
    this.command = command;
  }
}

interface Emitter {
  once(event: string, listener: (value?: unknown) => void): unknown;
}

/** The callback, before which is told what it is given. */
function observed(callback: unknown, answered: (answer: unknown) => void): AnyMethod {
  return (error, ...values) => {
    answered(error ?? values);
    return (callback as AnyMethod)(error, ...values);
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
