import {
  type AnyMethod,
  type Command,
  EMITTER_METHODS,
  type NestedTransactions,
  runNested,
} from '../store/sql/nested-transactions.js';
import type { Queryable } from './pool.js';

/** Runs `work` on a view of `client` on which transactions are savepoints: see {@link runNested}. */
export function withSavepoints<Tx extends Queryable>(
  client: Tx,
  work: (tx: Tx) => Promise<void>,
): Promise<void> {
  return runNested({ commandIn }, (nested) => viewOf(client, nested), work);
}

/** Inherits from the client, so that `instanceof` and the driver's own methods still work. */
function viewOf<Tx extends Queryable>(client: Tx, nested: NestedTransactions): Tx {
  const methods = client as unknown as Record<PropertyKey, AnyMethod | undefined>;
  const view: Record<PropertyKey, AnyMethod> = Object.create(client);
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
  // Kysely and knex release their connection, but this one belongs to the store.
  if (methods['release'] !== undefined) view['release'] = () => undefined;
  return view as unknown as Tx;
}

// A cheap first check, which rules out most statements by their first word.
const MAYBE = /^\s*(?:begin|start|commit|end|rollback|abort|prepare|--|\/\*)|;/i;
const KINDS = [
  ['isolate', /^(?:BEGIN|START) .*ISOLATION LEVEL (?:REPEATABLE READ|SERIALIZABLE)/],
  ['begin', /^(?:BEGIN|START TRANSACTION)\b/],
  ['commit', /^(?:COMMIT|END)(?: WORK| TRANSACTION)?(?: AND NO CHAIN)?$/],
  [undefined, /^ROLLBACK (?:WORK |TRANSACTION )?TO /],
  ['rollback', /^(?:ROLLBACK|ABORT)(?: WORK| TRANSACTION)?(?: AND NO CHAIN)?$/],
  ['other', /^(?:(?:COMMIT|END|ROLLBACK|ABORT)\b|PREPARE TRANSACTION\b)/],
] as const;

/** Undefined for a statement that neither begins nor ends a transaction. */
function commandIn(config: unknown): Command | undefined {
  const text = textOf(config);
  if (text === undefined || !MAYBE.test(text)) return undefined;
  const shown = withoutTexts(text);
  const commands = shown
    .split(';')
    .filter((part) => part.trim() !== '')
    .map(toCommand);
  if (commands.length < 2) return commands[0];
  // BEGIN; …; COMMIT in one text would end the store's transaction. An END may belong to a function's body.
  const hasBody = /\bBEGIN\s+ATOMIC\b/i.test(shown);
  const found = commands.find((one) => one && !(hasBody && one.words.startsWith('END')));
  return found && { kind: 'other', words: found.words };
}

const MARK = /\/\*|--|'|"|\$(?:[a-z_]\w*)?\$/gi;

/**
 * Leaves out comments, literals and quoted names. In one pass: a regular expression would look for an end again from
 * each mark within.
 */
function withoutTexts(text: string): string {
  let shown = '';
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(MARK)) {
    if (index < from) continue;
    shown += `${text.slice(from, index)} `;
    from = endOf(text, mark, index);
  }
  return shown + text.slice(from);
}

/** Where what begins with this mark ends. */
function endOf(text: string, mark: string, index: number): number {
  const start = index + mark.length;
  const isEscaped = mark === "'" && /(?:^|\W)e$/i.test(text.slice(Math.max(0, index - 2), index));
  if (isEscaped) return endOfEscaped(text, start);
  const end = mark === '/*' ? '*/' : mark === '--' ? '\n' : mark;
  const at = text.indexOf(end, start);
  return at === -1 ? text.length : at + end.length;
}

function endOfEscaped(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== "'") at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function toCommand(statement = ''): Command | undefined {
  const words = statement.trim().replaceAll(/\s+/g, ' ').toUpperCase();
  const kind = KINDS.find(([, form]) => form.test(words))?.[0];
  return kind && { kind, words };
}

/** The SQL of a text or a query config; undefined for a query object, which submits itself. */
function textOf(config: unknown): string | undefined {
  if (typeof config === 'string') return config;
  const { text, submit } = (config ?? {}) as { text?: unknown; submit?: unknown };
  return typeof text === 'string' && submit === undefined ? text : undefined;
}
