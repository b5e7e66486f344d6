import type { Dialect, Key } from '../store/sql/dialect.js';
import { NOW_US } from './session.js';

/**
 * The rows with these keys. With a condition in place of the join, the server scans a small table completely, whatever
 * the index hint, and waits for rows that others have locked.
 */
function found(table: string, keys: readonly Key[]): string {
  const columns = Object.keys(keys[0] ?? {});
  const wanted = keys.map((key) => {
    const values = columns.map(
      (column) => `CONVERT(${key[column]} USING ascii) COLLATE ascii_bin AS ${column}`,
    );
    return `SELECT ${values.join(', ')}`;
  });
  const isSame = columns.map((column) => `found.${column} = wanted.${column}`);
  return `(${wanted.join(' UNION ALL ')}) AS wanted
STRAIGHT_JOIN ${table} AS found FORCE INDEX (PRIMARY) ON ${isSame.join(' AND ')}`;
}

/** @param prefix already validated */
export function mysqlDialect(prefix: string): Dialect {
  const table = (name: string) => quoteName(`${prefix}${name}`);
  const tables = {
    payments: table('payments'),
    changes: table('changes'),
    failures: table('failed_changes'),
    seconds: table('second_payments'),
  };
  return {
    tables,
    nameType: 'varchar(128)',
    textType: 'longtext',
    // All texts are compared bytewise: case matters.
    tableOptions: ' ENGINE = InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin',
    index(of, name, columns) {
      const inTable = `KEY ${name} (${columns})`;
      return { create: `ALTER TABLE ${tables[of]} ADD ${inTable}`, inTable };
    },
    now: () => `${NOW_US} DIV 1000`,
    list: (columns) => `CAST(JSON_ARRAY(${columns}) AS CHAR)`,
    asText: (number) => `CAST(${number} AS CHAR)`,
    forUpdate: ' FOR UPDATE',
    skipLocked: ' FOR UPDATE SKIP LOCKED',
    ifNew: '',
    // Not INSERT IGNORE, whose locks make two transactions deadlock that have both waited for a third.
    orLock: (column) => `\nON DUPLICATE KEY UPDATE ${column} = ${column}`,
    updateByKey: (name, set, keys) => `UPDATE ${found(name, keys)} SET ${set}`,
    deleteByKey: (name, keys) => `DELETE found FROM ${found(name, keys)}`,
    literal,
  };
}

/** Quotes ASCII text as a literal that means the same in every sql_mode and character set of the connection. */
function literal(text: string): string {
  return /['\\]/.test(text)
    ? `_ascii X'${Buffer.from(text, 'latin1').toString('hex')}'`
    : `'${text}'`;
}

/** Quotes a validated name for SQL. */
function quoteName(name: string): string {
  return `\`${name.replace('.', '`.`')}\``;
}
