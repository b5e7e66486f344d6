import { resolveOptions } from '../protocol/options.js';
import { Statements } from '../store/sql/statements.js';
import { mysqlDialect } from './outbox-dialect.js';
import { type MysqlOutboxSchemaOptions, quoteTables, schemaRules } from './outbox-options.js';

/**
 * Returns the SQL that creates the tables of a `mysqlOutbox`, for migrations that run under another user than the
 * application's: statements to run in this order, without a final semicolon. Existing tables are kept. With the
 * default prefix, `schema.sql` has the same statements.
 *
 * @throws {InvalidOptionError} when `prefix` is invalid or an option is unknown
 */
export function mysqlOutboxSchema(options: MysqlOutboxSchemaOptions = {}): string[] {
  const { prefix } = resolveOptions(options, schemaRules);
  return [...new Statements(mysqlDialect(quoteTables(prefix))).schema];
}
