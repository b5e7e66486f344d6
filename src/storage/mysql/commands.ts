import type { Command } from '../nested-transactions.js';

// Most statements are ruled out by their first letters.
const MAYBE =
  /^\s*(?:alter|analyze|begin|cache|change|check|commit|create|drop|flush|grant|install|load|lock|optimize|rename|repair|reset|revoke|rollback|set|start|stop|truncate|uninstall|unlock|xa|[;#(]|--|\/\*)|;\s*(?:commit|rollback|begin|start)\b/i;
// What stands in a comment that the server executes is a part of the statement.
const EXECUTED = /\/\*M?!\d*((?:(?!\*\/)[\s\S])*)\*\//g;
const COMMENTS = /\/\*[\s\S]*?\*\/|--(?:\s[^\n]*|$)|#[^\n]*/;
// What looks like a comment, or the end of a statement, may stand in a text or a name.
const TEXTS = /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`[^`]*`/;
const IGNORED = new RegExp(`${COMMENTS.source}|${TEXTS.source}`, 'g');

const END = /(?: WORK)?(?: AND NO CHAIN)?(?: NO RELEASE)?$/.source;
const KINDS: readonly (readonly [Command['kind'] | undefined, RegExp])[] = [
  // A block of statements in MariaDB.
  [undefined, /^BEGIN NOT ATOMIC\b/],
  ['isolate', /^START TRANSACTION .*(?:CONSISTENT SNAPSHOT|READ ONLY)\b/],
  ['begin', /^(?:BEGIN(?: WORK)?|START TRANSACTION(?: READ WRITE)?)$/],
  ['commit', new RegExp(`^COMMIT${END}`)],
  [undefined, /^ROLLBACK (?:WORK )?TO /],
  ['rollback', new RegExp(`^ROLLBACK${END}`)],
  ['other', /^(?:BEGIN|START TRANSACTION|COMMIT|ROLLBACK|XA)\b/],
  // 0 leaves a transaction open behind the inbox's, and 1 commits then.
  ['other', /^SET .*\bAUTOCOMMIT`? ?:?=/],
  [undefined, /^(?:CREATE(?: OR REPLACE)?|DROP) TEMPORARY /],
  [undefined, /^DROP PREPARE /],
  [
    'implicit',
    /^(?:(?:ALTER|CREATE|DROP|FLUSH|GRANT|RENAME|RESET|REVOKE|TRUNCATE|INSTALL|UNINSTALL|CHANGE|CACHE INDEX|LOAD INDEX|SET PASSWORD|UNLOCK)\b|LOCK (?:TABLES?|INSTANCE)\b|(?:START|STOP) (?:SLAVE|REPLICA|ALL|GROUP_REPLICATION)\b|(?:ANALYZE|CHECK|OPTIMIZE|REPAIR)(?: LOCAL| NO_WRITE_TO_BINLOG)? TABLES?\b)/,
  ],
];

/** What a statement does to the transaction; undefined for one that neither begins nor ends one. */
export function commandIn(config: unknown): Command | undefined {
  const text = textOf(config);
  if (text === undefined || !MAYBE.test(text)) return undefined;
  const statements = text
    .replaceAll(EXECUTED, ' $1 ')
    .replaceAll(IGNORED, keepName)
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (statements.length < 2) return toCommand(statements[0]);
  // BEGIN; …; COMMIT in one text, where a pool takes that, would end the inbox's transaction.
  const command = [statements[0], statements.at(-1)]
    .map(toCommand)
    .find((found) => found !== undefined);
  return (
    command && { kind: command.kind === 'implicit' ? 'implicit' : 'other', words: command.words }
  );
}

// SET `autocommit` = 1.
function keepName(ignored: string): string {
  return ignored.startsWith('`') ? ignored.replaceAll(';', ' ') : ' ';
}

function toCommand(statement = ''): Command | undefined {
  const text = statement.replaceAll(/\s+/g, ' ').toUpperCase();
  const kind = KINDS.find(([, form]) => form.test(text))?.[0];
  // No more than says what it is: an account's password may follow.
  return (
    kind && {
      kind,
      words: text
        .split(' ')
        .slice(0, kind === 'implicit' ? 2 : 8)
        .join(' '),
    }
  );
}

/** The SQL of a text or of query options. */
function textOf(config: unknown): string | undefined {
  if (typeof config === 'string') return config;
  const { sql } = (config ?? {}) as { sql?: unknown };
  return typeof sql === 'string' ? sql : undefined;
}
