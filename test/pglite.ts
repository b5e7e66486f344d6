import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PGlite } from '@electric-sql/pglite';

let opening: Promise<PGlite> | undefined;

/** The one PGlite of this process, empty: what another test file has left in it is gone. */
export async function emptyPglite(): Promise<PGlite> {
  opening ??= openPglite();
  const database = await opening;
  await database.exec(
    'RESET ROLE; RESET ALL; DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC',
  );
  return database;
}

// Without it, Postgres keeps the timer with which it logs a slow start, and sets it every ten seconds: a file that fakes
// timers would run it for ever.
const startParams = [...PGlite.defaultStartParams, '-c', 'log_startup_progress_interval=0'];

/**
 * A PGlite of a test's own, to be closed by it. Making one takes seconds of the processor, opening one from a copy a
 * third of that: the copy is made once for each version of PGlite.
 */
export async function openPglite(): Promise<PGlite> {
  const { version } = JSON.parse(
    readFileSync('node_modules/@electric-sql/pglite/package.json', 'utf8'),
  );
  const file = path.resolve(`node_modules/.cache/merchant-payments/pglite-${version}.tar`);
  const copy = readIfThere(file);
  if (copy !== undefined) return PGlite.create({ startParams, loadDataDir: new Blob([copy]) });
  const database = await PGlite.create({ startParams });
  const made = await database.dumpDataDir('none');
  mkdirSync(path.dirname(file), { recursive: true });
  // In one step: other processes may do the same at the same time.
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, Buffer.from(await made.arrayBuffer()));
  renameSync(unfinished, file);
  return database;
}

function readIfThere(file: string): Buffer<ArrayBuffer> | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
