import type { Command } from '../store/sql/nested-transactions.js';

// A cheap first check, which rules out most statements by their first word.
const MAYBE =
  /^\s*(?:alter|analyze|begin|cache|change|check|commit|create|drop|flush|grant|install|load|lock|optimize|rename|repair|reset|revoke|rollback|set|start|stop|truncate|uninstall|unlock|xa|[#(]|--|\/\*)|;/i;
// The content of an executable comment is part of the statement.
const EXECUTED = /\/\*M?!\d*([\s\S]*?)(?:\*\/|$)/g;
const COMMENTS = /\/\*[\s\S]*?(?:\*\/|$)|--(?=\s|$)[^\n]*|#[^\n]*/;
// A text or a quoted name may contain what looks like a comment or the end of a statement. What is not closed reaches
// to the end: otherwise each mark within it would be tried too, in quadratic time.
const TEXTS =
  /'[^'\\]*(?:\\(?:[\s\S]|$)[^'\\]*)*(?:'|$)|"[^"\\]*(?:\\(?:[\s\S]|$)[^"\\]*)*(?:"|$)|`[^`]*(?:`|$)/;
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
  // SET autocommit = 0 would leave a transaction open after the store's, and a later 1 would commit it.
  ['other', /^SET .*\bAUTOCOMMIT`? ?:?=/],
  [undefined, /^(?:CREATE(?: OR REPLACE)?|DROP) TEMPORARY /],
  [undefined, /^DROP PREPARE /],
  [
    'implicit',
    /^(?:(?:ALTER|CREATE|DROP|FLUSH|GRANT|RENAME|RESET|REVOKE|TRUNCATE|INSTALL|UNINSTALL|CHANGE|CACHE INDEX|LOAD INDEX|SET PASSWORD|UNLOCK)\b|LOCK (?:TABLES?|INSTANCE)\b|(?:START|STOP) (?:SLAVE|REPLICA|ALL|GROUP_REPLICATION)\b|(?:ANALYZE|CHECK|OPTIMIZE|REPAIR)(?: LOCAL| NO_WRITE_TO_BINLOG)? TABLES?\b)/,
  ],
];

/** What a statement does to the transaction; undefined if it neither begins nor ends one. */
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
  // BEGIN; …; COMMIT in one text, if the pool allows it, would end the store's transaction.
  const command = statements.map(toCommand).find((found) => found !== undefined);
  return (
    command && { kind: command.kind === 'implicit' ? 'implicit' : 'other', words: command.words }
  );
}

// Keeps quoted names, for SET `autocommit` = 1.
function keepName(ignored: string): string {
  return ignored.startsWith('`') ? ignored.replaceAll(';', ' ') : ' ';
}

function toCommand(statement = ''): Command | undefined {
  const text = statement.replaceAll(/\s+/g, ' ').toUpperCase();
  const kind = KINDS.find(([, form]) => form.test(text))?.[0];
  // Only the first words, because an account's password may follow.
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

/** The SQL of a text or a query config. */
function textOf(config: unknown): string | undefined {
  if (typeof config === 'string') return config;
  const { sql } = (config ?? {}) as { sql?: unknown };
  return typeof sql === 'string' ? sql : undefined;
}
