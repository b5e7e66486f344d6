import type { Step } from '../store/payment-steps.js';
import { byKey, type Dialect } from '../store/sql/dialect.js';
import { missingColumn, missingColumns, schemaOf } from '../store/sql/schema.js';
import type { Claims } from './claims.js';

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

/**
 * Finds the statements that create missing tables, columns and indexes.
 *
 * @throws {StoreError} `MISSING_TABLES` for a table without a column that can't be added
 */
export function* findMissing(dialect: Dialect, claims: Claims): Step<readonly string[]> {
  const statements: string[] = [];
  for (const { table, index, create } of schemaOf(dialect)) {
    if (index === undefined) {
      const found = yield* columnsIn(dialect.tables[table]);
      statements.push(...(found.length === 0 ? [create] : missingColumns(dialect, table, found)));
    } else {
      const found = yield* namesIn(`pragma_index_list(${quote(dialect.tables[table])})`);
      const isThere = found.some((name) => name.endsWith(`_${index}`));
      if (!isThere) statements.push(create);
    }
  }
  const found = yield* columnsIn(claims.table);
  const missing = Object.keys(claims.columns).find((column) => !found.includes(column));
  if (found.length === 0) statements.push(claims.create);
  else if (missing !== undefined) throw missingColumn(claims.table, missing);
  return statements;
}

function columnsIn(table: string): Step<readonly string[]> {
  return namesIn(`pragma_table_info(${quote(table)})`);
}

function* namesIn(list: string): Step<readonly string[]> {
  const rows = yield `SELECT json_array(lower(name)) FROM ${list}`;
  return rows.map((json) => JSON.parse(json)[0]);
}

/** The name in double quotes as a text. */
function quote(table: string): string {
  return `'${table.slice(1, -1)}'`;
}
