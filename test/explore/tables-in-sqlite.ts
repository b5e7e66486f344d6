import type { SqliteDatabase } from '../../src/sqlite/database.js';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import { drivers, type OpenDatabase } from '../sqlite/open-database.js';

type Row = Readonly<Record<string, string | number | null>>;

export const PREFIX = 'store_';

const TABLES = ['payments', 'second_payments', 'changes', 'failed_changes', 'claims'] as const;

/** Everything that is committed, by table. What the merchant's work has written is in `done`, in order. */
export type Committed = Readonly<Record<(typeof TABLES)[number] | 'done', readonly Row[]>>;

/** The store's tables and one of the merchant's, in memory. One after another, all runs of all scenes use them. */
class TablesInSqlite implements SqliteDatabase {
  readonly #database: OpenDatabase;
  readonly #prepared = new Map<string, ReturnType<OpenDatabase['prepare']>>();
  #committed: Committed | undefined;

  constructor(database: OpenDatabase) {
    this.#database = database;
  }

  get inTransaction(): boolean {
    const { inTransaction, isTransaction } = this.#database;
    return inTransaction === true || isTransaction === true;
  }

  exec(sql: string): void {
    if (sql.startsWith('BEGIN')) this.committed();
    this.#database.exec(sql);
    if (!this.inTransaction) this.#committed = undefined;
  }

  prepare(sql: string): ReturnType<OpenDatabase['prepare']> {
    const statement = this.#prepared.get(sql) ?? this.#database.prepare(sql);
    // A claim has a random name, so that it does not come again.
    if (!sql.includes(`${PREFIX}claims`)) this.#prepared.set(sql, statement);
    return statement;
  }

  empty(): void {
    if (this.inTransaction) this.exec('ROLLBACK');
    for (const table of [...TABLES, 'done']) this.exec(`DELETE FROM ${PREFIX}${table}`);
  }

  /** The merchant's work writes. Outside a transaction, that is committed at once. */
  write(key: string, current: boolean): void {
    this.exec(`INSERT INTO ${PREFIX}done (key, current) VALUES ('${key}', ${Number(current)})`);
  }

  /** What others see: while a transaction is open, what was committed before it. */
  committed(): Committed {
    this.#committed ??= this.#read();
    return this.#committed;
  }

  #read(): Committed {
    const read = (table: string) =>
      this.prepare(`SELECT * FROM ${PREFIX}${table}`).all() as readonly Row[];
    const rows = [...TABLES, 'done'].map((table) => [table, read(table)]);
    return Object.fromEntries(rows);
  }

  /** All that is committed and decides anything, without times. */
  text(): string {
    const isIdle = (name: string) => /_ms$|^error$|^place$|^owner$/.test(name);
    return JSON.stringify(this.committed(), (name, field) => (isIdle(name) ? undefined : field));
  }
}

async function open(): Promise<TablesInSqlite> {
  const [driver] = drivers;
  if (driver === undefined) throw new Error('no driver of SQLite');
  const database = driver.open(':memory:');
  await sqliteStore(database, { prefix: PREFIX }).setup();
  database.exec(
    `CREATE TABLE ${PREFIX}done (place INTEGER PRIMARY KEY, key TEXT, current INTEGER)`,
  );
  return new TablesInSqlite(database);
}

export const tables = await open();
