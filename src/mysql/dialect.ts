import type { Dialect } from '../store/sql/dialect.js';
import { literal } from './literal.js';
import { HERE } from './location.js';
import { quoteName } from './names.js';
import { NOW_US } from './session.js';

/** @param prefix already validated */
export function mysqlDialect(prefix: string): Dialect {
  // The work may change the session's database.
  const table = (name: string) =>
    `${prefix.includes('.') ? '' : HERE}${quoteName(`${prefix}${name}`)}`;
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
    index: (_table, name, columns) => ({ inTable: `KEY ${name} (${columns})` }),
    now: () => `${NOW_US} DIV 1000`,
    list: (columns) => `CAST(JSON_ARRAY(${columns}) AS CHAR)`,
    asText: (number) => `CAST(${number} AS CHAR)`,
    forUpdate: ' FOR UPDATE',
    skipLocked: ' FOR UPDATE SKIP LOCKED',
    ifNew: '',
    // Not INSERT IGNORE, whose locks make two transactions deadlock that have both waited for a third.
    orLock: (column) => `\nON DUPLICATE KEY UPDATE ${column} = ${column}`,
    // Without the index hint, the server scans a small table completely, and waits for rows that others have locked.
    byKey: ' FORCE INDEX (PRIMARY)',
    deleteByKey: (name, condition) =>
      `DELETE row_to_delete FROM ${name} AS row_to_delete FORCE INDEX (PRIMARY) WHERE ${condition}`,
    afterLock: '',
    literal,
    durably: (text) => text,
  };
}
