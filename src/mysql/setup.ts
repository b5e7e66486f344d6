import type { Dialect, Tables } from '../store/sql/dialect.js';
import { missingColumns, schemaOf, tableNames } from '../store/sql/schema.js';
import type { ServerTimeouts } from '../store/sql/server-options.js';
import type { Connections } from '../store/sql/transactions.js';
import { failures } from './failures.js';

/** Creates missing tables, columns and indexes. If nothing is missing, it changes nothing and needs no right to create. */
export async function setup<Tx>(
  connections: Connections<Tx>,
  dialect: Dialect,
  timeouts: ServerTimeouts,
): Promise<void> {
  for (const table of tableNames()) {
    for (const statement of await findMissing(connections, dialect, table)) {
      // Each in its own transaction, which it commits, whatever the session's defaults are.
      await connections.run(async (transaction) => {
        await transaction.begin(timeouts.lockTimeoutMs, []);
        await transaction.ask(statement).catch((error) => {
          throw failures.explainSetup(error, statement);
        });
        return { end: 'commit', result: undefined, statements: [] };
      });
    }
  }
}

/** The statements that create what a table lacks. */
async function findMissing<Tx>(
  { read }: Connections<Tx>,
  dialect: Dialect,
  table: keyof Tables,
): Promise<readonly string[]> {
  const where = whereIs(dialect.tables[table]);
  const columns = await read(`SELECT column_name FROM information_schema.columns WHERE ${where}`);
  const [whole, ...keys] = schemaOf(dialect).filter((part) => part.table === table);
  if (columns.length === 0) return whole === undefined ? [] : [whole.create];
  const indexes = await read(`SELECT index_name FROM information_schema.statistics WHERE ${where}`);
  const missing = keys.filter(({ index = '' }) => !indexes.includes(index));
  return [...missingColumns(dialect, table, columns), ...missing.map(({ create }) => create)];
}

/** The condition for a table in information_schema. Names are plain, so no quotes need to be escaped. */
function whereIs(table: string): string {
  const [name, database] = table.replaceAll('`', '').split('.').reverse();
  const schema = database === undefined ? 'DATABASE()' : `'${database}'`;
  return `table_schema = ${schema} AND table_name = '${name}'`;
}
