import { createRequire } from 'node:module';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';

// From the root of the project, where every run is started: receiver processes are bundles in a
// temporary folder, and know no other way to their driver.
const fromServices = createRequire(join(process.cwd(), 'test/package.json'));

/** Whether better-sqlite3 is installed for the tests. */
export const hasSqlite = isInstalled();

/** A connection to a file in WAL mode, which waits so long for locks. */
export function openSqlite(
  file: string,
  { timeoutMs }: { timeoutMs: number },
): BetterSqlite3.Database {
  const Database = fromServices('better-sqlite3') as typeof BetterSqlite3;
  const database = new Database(file, { timeout: timeoutMs });
  database.pragma('journal_mode = WAL');
  return database;
}

function isInstalled(): boolean {
  try {
    fromServices.resolve('better-sqlite3');
    return true;
  } catch {
    return false;
  }
}
