import { byKey, type Dialect } from '../store/sql/dialect.js';

/** @param now the clock, in epoch milliseconds */
export function sqliteDialect(prefix: string, now: () => number): Dialect {
  const tables = {
    payments: `"${prefix}payments"`,
    changes: `"${prefix}changes"`,
    failures: `"${prefix}failed_changes"`,
    seconds: `"${prefix}second_payments"`,
  };
  return {
    tables,
    nameType: 'TEXT',
    textType: 'TEXT',
    tableOptions: ' WITHOUT ROWID',
    index: (table, name, columns) => ({
      create: `CREATE INDEX IF NOT EXISTS ${tables[table].slice(0, -1)}_${name}" ON ${tables[table]} (${columns})`,
    }),
    now: () => String(now()),
    list: (columns) => `json_array(${columns})`,
    asText: (number) => `CAST(${number} AS TEXT)`,
    // Each transaction has the only write lock.
    forUpdate: '',
    skipLocked: '',
    ifNew: ' ON CONFLICT DO NOTHING',
    orLock: () => ' ON CONFLICT DO NOTHING',
    ...byKey,
    literal: (text) => `'${text.replaceAll("'", "''")}'`,
  };
}
