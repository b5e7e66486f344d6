import { late } from '../store/errors.js';
import type { Dialect } from '../store/sql/dialect.js';
import { missingColumns, schemaOf, tableNames } from '../store/sql/schema.js';
import type { Ask, Connections } from '../store/sql/transactions.js';
import { indexName } from './dialect.js';
import { failures } from './failures.js';

// An arbitrary number that the application is unlikely to lock.
const SETUP_LOCK = 7_161_998_226_001;
const SETUP_LOCK_TIMEOUT_MS = 60_000;
/** How long the creation of a part may wait for the lock of a table: everything else queues behind it. */
const TABLE_LOCK_TIMEOUT_MS = 2_000;

/** Creates missing tables, columns and indexes. If nothing is missing, it takes no lock and needs no right to create. */
export async function setup<Tx>(connections: Connections<Tx>, dialect: Dialect): Promise<void> {
  const missing = await findMissing((statement) => connections.read(statement), dialect);
  if (missing.length === 0) return;
  await connections.run(async (transaction) => {
    const ask: Ask = (statement) => transaction.ask(statement);
    await transaction.begin(SETUP_LOCK_TIMEOUT_MS, []);
    // Two concurrent CREATE TABLE IF NOT EXISTS can fail.
    await ask(`SELECT pg_catalog.pg_advisory_xact_lock(${SETUP_LOCK}::bigint)::text`);
    await ask(
      `SELECT pg_catalog.set_config('lock_timeout'::text, '${TABLE_LOCK_TIMEOUT_MS}'::text, true)`,
    );
    for (const create of await findMissing(ask, dialect)) {
      await ask(create).catch((error) => {
        throw failures.is('lockTimeout', error)
          ? setupBlocked(error)
          : failures.explainSetup(error, create);
      });
    }
    return { end: 'commit', result: undefined, statements: [] };
  });
}

/** The statements that create what is missing. */
async function findMissing(ask: Ask, dialect: Dialect): Promise<readonly string[]> {
  // CREATE INDEX IF NOT EXISTS locks the table before it checks, and fails for a role without the right to create
  // even if the index exists.
  const tables = tableNames().map((table) => existing(dialect.tables[table]));
  const [json] = await ask(`SELECT ${dialect.list(tables.join(',\n  '))}`);
  if (json === undefined) throw failures.changedAnswer();
  const lists: readonly (readonly string[] | null)[] = JSON.parse(json);
  const has = Object.fromEntries(tableNames().map((table, at) => [table, lists[at] ?? undefined]));
  return [
    ...tableNames().flatMap((table) => {
      const parts = has[table];
      return parts === undefined ? [] : missingColumns(dialect, table, parts);
    }),
    ...schemaOf(dialect)
      .filter(({ table, index }) => {
        const name =
          index === undefined ? undefined : unquoted(indexName(dialect.tables[table], index));
        const columns = has[table];
        return columns === undefined || (name !== undefined && !columns.includes(`index ${name}`));
      })
      .map(({ create }) => create),
  ];
}

/** The names of a table's columns and indexes, as a JSON list; NULL if there is no such table. */
function existing(table: string): string {
  // Names are plain, so no quotes need to be escaped.
  const oid = `pg_catalog.to_regclass('${table}'::text)::oid`;
  return `CASE WHEN ${oid} IS NULL THEN NULL ELSE pg_catalog.array_to_json(ARRAY(
    SELECT attname::text FROM pg_catalog.pg_attribute WHERE attrelid = ${oid} AND attnum > 0
    UNION ALL SELECT 'index '::text || relname::text FROM pg_catalog.pg_index
      JOIN pg_catalog.pg_class ON pg_class.oid = indexrelid WHERE indrelid = ${oid})) END`;
}

function unquoted(name: string): string {
  return name.slice(1, -1);
}

const setupBlocked = (cause: unknown) =>
  late(
    'setup() could not lock a table that callbacks are using, and nothing was changed; call it again later, or CREATE INDEX CONCURRENTLY as in postgresSchema()',
    cause,
  );
