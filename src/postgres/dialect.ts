import { byKey, type Dialect } from '../store/sql/dialect.js';

/** @param prefix already validated */
export function postgresDialect(prefix: string): Dialect {
  const tables = {
    payments: quoteName(`${prefix}payments`),
    changes: quoteName(`${prefix}changes`),
    failures: quoteName(`${prefix}failed_changes`),
    seconds: quoteName(`${prefix}second_payments`),
  };
  return {
    tables,
    nameType: 'text COLLATE "C"',
    textType: 'text',
    tableOptions: ' WITH (fillfactor = 80)',
    index: (table, name, columns) => ({
      create: `CREATE INDEX IF NOT EXISTS ${indexName(tables[table], name)} ON ${tables[table]} (${columns})`,
    }),
    now: () =>
      "(pg_catalog.date_part('epoch'::text, pg_catalog.clock_timestamp()) * 1000::float8)::bigint",
    list: (columns) => `pg_catalog.json_build_array(${columns})::text`,
    asText: (number) => `${number}::text`,
    forUpdate: ' FOR UPDATE',
    skipLocked: ' FOR UPDATE SKIP LOCKED',
    ifNew: ' ON CONFLICT DO NOTHING',
    orLock: (column) => ` ON CONFLICT (${column}) DO UPDATE SET ${column} = excluded.${column}`,
    ...byKey,
    literal,
  };
}

/** The name of an index, without a schema, as an index is always in that of its table. */
export function indexName(table: string, suffix: string): string {
  return `${withoutSchema(table).slice(0, -1)}_${suffix}"`;
}

/**
 * Quotes a text as an SQL literal. A text with a backslash becomes E'…', which means the same whether
 * `standard_conforming_strings` is on or off. A question mark is escaped, as knex takes it for a placeholder.
 */
export function literal(text: string): string {
  if (!/['\\?]/.test(text)) return `'${text}'`;
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('?', '\\x3f');
  return escaped.includes('\\') ? `E'${escaped}'` : `'${escaped}'`;
}

/** Quotes a validated name for SQL. */
function quoteName(name: string): string {
  return `"${name.replace('.', '"."')}"`;
}

/** Removes the schema from a quoted name. */
function withoutSchema(table: string): string {
  const [name = table] = table.split('.').reverse();
  return name;
}
