import type { PGlite } from '@electric-sql/pglite';
import { openPglite } from '../../inbox/postgres/open-pglite.js';

let opening: Promise<PGlite> | undefined;

/** An empty database. It takes a second to open, so there is one for all walks. */
export async function emptyPglite(): Promise<PGlite> {
  opening ??= openPglite();
  const database = await opening;
  await database.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  return database;
}

/** Closes it, if a walk has opened it: see {@link openPglite}. */
export async function closePglite(): Promise<void> {
  await (await opening)?.close();
  opening = undefined;
}
