import type { Dialect, Tables } from '../store/sql/dialect.js';
import { missingColumns, schemaOf, tableNames } from '../store/sql/schema.js';
import type { Connections, ServerTimeouts } from '../store/sql/transactions.js';
import { failures, wrongCharset } from './failures.js';

/** Creates missing tables, columns and indexes. If nothing is missing, it changes nothing and needs no right to create. */
export async function setup<Tx>(
  connections: Connections<Tx>,
  dialect: Dialect,
  timeouts: ServerTimeouts,
): Promise<void> {
  await assertReturnsAscii(connections, dialect);
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

const ASCII = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index));
const UNQUOTED = ASCII.replace(/['\\]/g, '');

/** In character sets such as sjis and swe7, some characters of ASCII arrive as others, or break the JSON of answers. */
async function assertReturnsAscii<Tx>(
  { read }: Connections<Tx>,
  { list, literal }: Dialect,
): Promise<void> {
  // With quotes and backslashes, a literal is sent in another form.
  for (const text of [ASCII, UNQUOTED]) {
    const [answer] = await read(`SELECT ${list(literal(text))}`);
    if (!isListOf(answer, text)) throw wrongCharset();
  }
}

/** Compares what is read, because the server may write an escape in another way. */
function isListOf(json: string | undefined, text: string): boolean {
  try {
    return JSON.parse(json ?? '')[0] === text;
  } catch {
    return false;
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
  const parts = schemaOf(dialect).filter((part) => part.table === table);
  if (columns.length === 0) return parts.map(({ create }) => create);
  const added = missingColumns(dialect, table, columns);
  const indexes = await read(`SELECT index_name FROM information_schema.statistics WHERE ${where}`);
  const keys = parts.flatMap(({ inTable }) =>
    inTable === undefined || indexes.includes(inTable.name)
      ? []
      : [`ALTER TABLE ${dialect.tables[table]} ADD ${inTable.key}`],
  );
  return [...added, ...keys];
}

/** The condition for a table in information_schema. Names are plain, so no quotes need to be escaped. */
function whereIs(table: string): string {
  const [name, database] = table.replaceAll('`', '').split('.').reverse();
  const schema = database === undefined ? 'DATABASE()' : `'${database}'`;
  return `table_schema = ${schema} AND table_name = '${name}'`;
}
