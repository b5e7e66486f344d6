import {
  type AnyMethod,
  type Command,
  NestedTransactions,
} from '../store/sql/nested-transactions.js';
import type { Queryable } from './pool.js';

/**
 * Runs `work` on a view of `client` that turns transactions into savepoints: an ORM on `tx` sends BEGIN and COMMIT
 * for a nested transaction, and the COMMIT would end the store's.
 *
 * @throws {StoreError} `TRANSACTION_LOST` when the work tried to end the store's transaction, or
 * returned before its own transactions and queries had ended
 */
export async function withSavepoints<Tx extends Queryable>(
  client: Tx,
  work: (tx: Tx) => Promise<void>,
  onStatement: (text: string) => void = () => undefined,
): Promise<void> {
  const nested = new NestedTransactions({ commandIn });
  try {
    await work(viewOf(client, nested, onStatement));
  } finally {
    nested.close();
  }
  nested.assertEnded();
}

// These write to fields of the emitter, and must write to the client's, not the view's.
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

/** Inherits from the client, so that `instanceof` and the driver's own methods still work. */
function viewOf<Tx extends Queryable>(
  client: Tx,
  nested: NestedTransactions,
  onStatement: (text: string) => void,
): Tx {
  const methods = client as unknown as Record<string, AnyMethod | undefined>;
  const view: Record<string, AnyMethod> = Object.create(client);
  for (const name of EMITTER_METHODS) {
    const method = methods[name];
    if (method !== undefined) view[name] = method.bind(client);
  }
  for (const name of ['query', 'exec']) {
    const method = methods[name];
    if (method !== undefined) {
      view[name] = (...args) => {
        onStatement(textOf(args[0]) ?? '');
        return nested.send((...sent) => method.apply(client, sent), args);
      };
    }
  }
  // Kysely and knex release their connection, but this one belongs to the store.
  if (methods['release'] !== undefined) view['release'] = () => undefined;
  return view as unknown as Tx;
}

// A cheap first check, which rules out most statements by their first word.
const MAYBE =
  /^\s*(?:begin|start|commit|end|rollback|abort|prepare|;|--|\/\*)|;\s*(?:commit|end|rollback|abort)\b/i;
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
  const statements = withoutComments(text)
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (statements.length < 2) return toCommand(statements[0]);
  // BEGIN; …; COMMIT in one text would end the store's transaction. A final END may belong to a function body.
  const command = [statements[0], statements.at(-1)]
    .map(toCommand)
    .find((found) => found && found.kind !== 'other' && !found.words.startsWith('END'));
  return command && { kind: 'other', words: command.words };
}

/** In one pass: a regular expression would look for the end of a comment again from each mark within it. */
function withoutComments(text: string): string {
  const lastEnd = text.lastIndexOf('*/');
  let shown = '';
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(/\/\*|--/g)) {
    if (index < from || (mark === '/*' && index + 2 > lastEnd)) continue;
    const end = mark === '/*' ? text.indexOf('*/', index + 2) + 2 : text.indexOf('\n', index);
    shown += `${text.slice(from, index)} `;
    from = end === -1 ? text.length : end;
  }
  return shown + text.slice(from);
}

function toCommand(statement = ''): Command | undefined {
  const words = statement.replaceAll(/\s+/g, ' ').toUpperCase();
  const kind = KINDS.find(([, form]) => form.test(words))?.[0];
  return kind && { kind, words };
}

/** The SQL of a text or a query config; undefined for a query object, which submits itself. */
function textOf(config: unknown): string | undefined {
  if (typeof config === 'string') return config;
  const { text, submit } = (config ?? {}) as { text?: unknown; submit?: unknown };
  return typeof text === 'string' && submit === undefined ? text : undefined;
}
