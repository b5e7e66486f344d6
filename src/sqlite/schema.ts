import type { Dialect } from '../store/sql/dialect.js';
import { columnsOf, schemaOf } from '../store/sql/schema.js';
import type { Step } from '../store/sql/session.js';
import type { Claims } from './claims.js';
import { unfitColumn } from './failures.js';

/**
 * Finds the statements that create missing tables, columns and indexes.
 *
 * @throws {StoreError} `MISSING_TABLES` for a table without a column that can't be added
 */
export function* findMissing(dialect: Dialect, claims: Claims): Step<readonly string[]> {
  const statements: string[] = [];
  for (const { table, index, create } of schemaOf(dialect)) {
    if (index === undefined) {
      const columns = columnsOf(dialect, table);
      statements.push(...(yield* completeTable(dialect.tables[table], columns, create)));
    } else {
      const found = yield* namesIn(`pragma_index_list(${quote(dialect.tables[table])})`);
      const isThere = found.some((name) => name.endsWith(`${table}_${index}`));
      if (!isThere) statements.push(create);
    }
  }
  statements.push(...(yield* completeTable(claims.table, claims.columns, claims.create)));
  return statements;
}

function* completeTable(
  table: string,
  columns: Readonly<Record<string, string>>,
  create: string,
): Step<readonly string[]> {
  const found = yield* namesIn(`pragma_table_info(${quote(table)})`);
  if (found.length === 0) return [create];
  return Object.entries(columns)
    .filter(([name]) => !found.includes(name))
    .map(([name, type]) => {
      if (type.endsWith('NOT NULL')) throw unfitColumn(table, name);
      return `ALTER TABLE ${table} ADD COLUMN ${name} ${type}`;
    });
}

function* namesIn(list: string): Step<readonly string[]> {
  const rows = yield `SELECT json_array(lower(name)) FROM ${list}`;
  return rows.map((json) => JSON.parse(json)[0]);
}

/** The name in double quotes as a text. */
function quote(table: string): string {
  return `'${table.slice(1, -1)}'`;
}
