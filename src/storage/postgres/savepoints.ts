import { InboxError } from '../../errors.js';
import type { Queryable } from './pool.js';

/**
 * Runs `work` on a view of `client` where a transaction that the work begins is a savepoint: an ORM
 * that is given `tx` begins one for every nested transaction, and its COMMIT would end the inbox's.
 *
 * @throws {InboxError} `TRANSACTION_LOST` when the work tried to end the inbox's transaction, or
 * returned before its own transactions and queries had ended
 */
export async function withSavepoints<Tx extends Queryable>(
  client: Tx,
  work: (tx: Tx) => Promise<void>,
): Promise<void> {
  const nested = new NestedTransactions();
  try {
    await work(viewOf(client, nested));
  } finally {
    nested.close();
  }
  nested.assertEnded();
}

type AnyMethod = (...args: unknown[]) => unknown;

// They write to fields of the emitter, which must be the client's and not the view's.
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

/** Inherits from the client, so that `instanceof` and the driver's own methods hold. */
function viewOf<Tx extends Queryable>(client: Tx, nested: NestedTransactions): Tx {
  const methods = client as unknown as Record<string, AnyMethod | undefined>;
  const view: Record<string, AnyMethod> = Object.create(client);
  for (const name of EMITTER_METHODS) {
    const method = methods[name];
    if (method !== undefined) view[name] = method.bind(client);
  }
  for (const name of ['query', 'exec']) {
    const method = methods[name];
    if (method !== undefined) {
      view[name] = (...args) => nested.send((...sent) => method.apply(client, sent), args);
    }
  }
  // Kysely and knex release the connection that they are given; this one is the inbox's.
  if (methods['release'] !== undefined) view['release'] = () => undefined;
  return view as unknown as Tx;
}

/** What work has begun and not ended. */
class NestedTransactions {
  #isOpen = false;
  #running = 0;
  #closed = false;
  #refusal: InboxError | undefined;

  /** Sends a query, or what stands in its place. */
  send(query: AnyMethod, args: unknown[]): unknown {
    if (this.#closed) return answer(Promise.reject(workHasEnded()), args);
    const command = commandIn(args[0]);
    if (command !== undefined) return answer(this.#run(command, query), args);
    const result = query(...args);
    return isPromise(result) ? this.#settled(result) : result;
  }

  close(): void {
    this.#closed = true;
  }

  assertEnded(): void {
    // Even if the work went on after it: what it wanted undone must not be committed.
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#isOpen) throw notAwaited('a nested transaction of it was open');
    if (this.#running > 0) throw notAwaited('a query of it was running');
  }

  async #run({ kind, words }: Command, query: AnyMethod): Promise<unknown> {
    if (kind === 'isolate') throw this.#refuse(isolationRefused(words));
    if (kind === 'begin') {
      // Of two at once, one's ROLLBACK would undo what the other has committed.
      if (this.#isOpen) throw this.#refuse(beginRefused(words));
      this.#isOpen = true;
      return this.#orElse(false, query(`SAVEPOINT ${SAVEPOINT}`));
    }
    if (kind === 'other' || !this.#isOpen) throw this.#refuse(endRefused(words));
    this.#isOpen = false;
    if (kind === 'rollback') return this.#settled(query(`ROLLBACK TO SAVEPOINT ${SAVEPOINT}`));
    // A COMMIT that fails is followed by a ROLLBACK, which needs its savepoint.
    return this.#orElse(true, query(`RELEASE SAVEPOINT ${SAVEPOINT}`));
  }

  async #orElse(isOpen: boolean, running: unknown): Promise<unknown> {
    try {
      return await this.#settled(running);
    } catch (error) {
      this.#isOpen = isOpen;
      throw error;
    }
  }

  // By await rather than by then(): the stack of an error still leads to the work.
  async #settled(running: unknown): Promise<unknown> {
    this.#running += 1;
    try {
      return await running;
    } finally {
      this.#running -= 1;
    }
  }

  #refuse(refusal: InboxError): InboxError {
    this.#refusal = refusal;
    return refusal;
  }
}

const SAVEPOINT = 'merchant_payments_1';

function isPromise(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** As pg answers: by a callback when one was given, else by a promise. */
function answer(running: Promise<unknown>, args: unknown[]): unknown {
  const [config, ...others] = args;
  const callback = [...others, (config as { callback?: unknown } | null)?.callback].find(
    (value) => typeof value === 'function',
  ) as AnyMethod | undefined;
  if (callback === undefined) return running;
  running.then(
    (result) => callback(null, result),
    (error) => callback(error),
  );
  return undefined;
}

interface Command {
  readonly kind: 'begin' | 'isolate' | 'commit' | 'rollback' | 'other';
  /** The statement in capitals, for the text of an error. */
  readonly words: string;
}

// Most statements are ruled out by their first letters.
const MAYBE =
  /^\s*(?:begin|start|commit|end|rollback|abort|prepare|;|--|\/\*)|;\s*(?:commit|end|rollback|abort)\b/i;
const COMMENTS = /\/\*[\s\S]*?\*\/|--[^\n]*/g;
const KINDS = [
  ['isolate', /^(?:BEGIN|START) .*ISOLATION LEVEL (?:REPEATABLE READ|SERIALIZABLE)/],
  ['begin', /^(?:BEGIN|START TRANSACTION)\b/],
  ['commit', /^(?:COMMIT|END)(?: WORK| TRANSACTION)?(?: AND NO CHAIN)?$/],
  [undefined, /^ROLLBACK (?:WORK |TRANSACTION )?TO /],
  ['rollback', /^(?:ROLLBACK|ABORT)(?: WORK| TRANSACTION)?(?: AND NO CHAIN)?$/],
  ['other', /^(?:(?:COMMIT|END|ROLLBACK|ABORT)\b|PREPARE TRANSACTION )/],
] as const;

/** Undefined for a statement that neither begins nor ends a transaction. */
function commandIn(config: unknown): Command | undefined {
  const text = textOf(config);
  if (text === undefined || !MAYBE.test(text)) return undefined;
  const statements = text
    .replaceAll(COMMENTS, ' ')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (statements.length < 2) return toCommand(statements[0]);
  // BEGIN; …; COMMIT in one text would end the inbox's transaction. END may be that of a function.
  const command = [statements[0], statements.at(-1)]
    .map(toCommand)
    .find((found) => found && found.kind !== 'other' && !found.words.startsWith('END'));
  return command && { kind: 'other', words: command.words };
}

function toCommand(statement = ''): Command | undefined {
  const words = statement.replaceAll(/\s+/g, ' ').toUpperCase();
  const kind = KINDS.find(([, form]) => form.test(words))?.[0];
  return kind && { kind, words };
}

/** The SQL of a text or a config; of a query object, which sends itself, none. */
function textOf(config: unknown): string | undefined {
  if (typeof config === 'string') return config;
  const { text, submit } = (config ?? {}) as { text?: unknown; submit?: unknown };
  return typeof text === 'string' && submit === undefined ? text : undefined;
}

function endRefused(words: string): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    `${words} was not sent: it would end the inbox's transaction, as the work has begun none. Leave the end to the inbox: throw to undo everything, use BEGIN and ROLLBACK or savepoints to undo a part`,
  );
}

function beginRefused(words: string): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    `${words} was not sent: another transaction on tx is open. Run the transactions of your work one after another, and use SAVEPOINT, or your ORM's transaction inside a transaction, to nest them`,
  );
}

function isolationRefused(words: string): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    `${words} was not sent: on tx a nested transaction is a savepoint, at READ COMMITTED like the inbox's transaction. Leave the isolation level out, and lock what must not change (SELECT … FOR UPDATE)`,
  );
}

function notAwaited(what: string): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    `The work returned while ${what}; nothing was recorded, and a later delivery runs the work again. Await every query and every transaction`,
  );
}

function workHasEnded(): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    'The query was not sent: the work that was given this tx has ended, and the transaction with it. Await every query before the work returns',
  );
}
