import type { Dialect } from '../store/sql/dialect.js';

/** @param now the clock, in epoch milliseconds */
export function sqliteDialect(prefix: string, now: () => number): Dialect {
  const payments = `"${prefix}payments"`;
  return {
    payments,
    seconds: `"${prefix}second_payments"`,
    nameType: 'TEXT',
    textType: 'TEXT',
    tableOptions: ' WITHOUT ROWID',
    index: {
      statement: `CREATE INDEX IF NOT EXISTS "${prefix}payments_state" ON ${payments} (state, changed_at_ms)`,
    },
    now: () => String(now()),
    list: (columns) => `json_array(${columns})`,
    // Each transaction has the only write lock.
    forUpdate: '',
    skipLocked: '',
    ifNew: ' ON CONFLICT DO NOTHING',
    unlessStored: ' ON CONFLICT DO NOTHING',
    deleteIn: (references) => `DELETE FROM ${payments} WHERE reference IN (${references})`,
    byReference: '',
    literal: (text) => `'${text.replaceAll("'", "''")}'`,
    durably: (text) => text,
  };
}
