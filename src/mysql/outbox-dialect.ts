import type { Dialect } from '../store/sql/dialect.js';
import { literal } from './literal.js';
import type { QuotedTables } from './outbox-options.js';
import { NOW_US } from './session.js';

export const mysqlDialect = ({ payments, seconds }: QuotedTables): Dialect => ({
  payments,
  seconds,
  nameType: 'varchar(128)',
  textType: 'longtext',
  // All texts are compared bytewise: case matters.
  tableOptions: ' ENGINE = InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin',
  index: {
    inTable: `-- For recover(), unresolved() and prune().
  KEY state_changed_at_ms (state, changed_at_ms)`,
  },
  now: () => `${NOW_US} DIV 1000`,
  list: (columns) => `CAST(JSON_ARRAY(${columns}) AS CHAR)`,
  forUpdate: ' FOR UPDATE',
  skipLocked: ' FOR UPDATE SKIP LOCKED',
  ifNew: '',
  // Not INSERT IGNORE, whose locks make two transactions deadlock that have both waited for a third.
  unlessStored: '\nON DUPLICATE KEY UPDATE reference = reference',
  // Without the index hint, the server scans a small table completely, and waits for rows that others have locked.
  deleteIn: (references) =>
    `DELETE payment FROM ${payments} AS payment FORCE INDEX (PRIMARY) WHERE reference IN (${references})`,
  byReference: ' FORCE INDEX (PRIMARY)',
  literal,
  durably: (text) => text,
});
