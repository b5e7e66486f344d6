import { resolveOptions } from '../protocol/options.js';
import { indexExists, type SchemaPart, tableExists } from './schema-parts.js';
import { Statements } from '../store/sql/statements.js';
import { postgresDialect } from './outbox-dialect.js';
import {
  type PostgresOutboxSchemaOptions,
  type QuotedTables,
  quoteTables,
  schemaRules,
} from './outbox-options.js';

/**
 * Returns the SQL that creates the tables of a `postgresOutbox`, for migrations that run under another role than the
 * application's. Existing tables are kept. With the default prefix, it is the content of `schema.sql`.
 *
 * @throws {InvalidOptionError} when `prefix` is invalid or an option is unknown
 */
export function postgresOutboxSchema(options: PostgresOutboxSchemaOptions = {}): string {
  const { prefix } = resolveOptions(options, schemaRules);
  const statements = schemaParts(quoteTables(prefix)).map(({ create }) => create);
  return `${statements.join(';\n\n')};\n`;
}

/** The parts of the schema, in the order of their creation. */
export function schemaParts(tables: QuotedTables): SchemaPart[] {
  const { payments, seconds } = tables;
  const exists = [tableExists(payments), tableExists(seconds), indexExists(payments, 'state')];
  const { schema } = new Statements(postgresDialect(tables));
  return schema.map((create, index) => ({ create, exists: exists[index] as string }));
}
