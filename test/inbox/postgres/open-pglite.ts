import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PGlite } from '@electric-sql/pglite';

/**
 * An empty PGlite. Making one takes seconds of the processor, opening one from a copy a third of that:
 * the copy is made once for each version of PGlite. Close it before the file ends: it sets timers, which those
 * that a later file of the process fakes would run for ever.
 */
export async function openPglite(): Promise<PGlite> {
  const { version } = JSON.parse(
    readFileSync('node_modules/@electric-sql/pglite/package.json', 'utf8'),
  );
  const file = path.resolve(`node_modules/.cache/merchant-payments/pglite-${version}.tar`);
  const copy = readIfThere(file);
  if (copy !== undefined) return PGlite.create({ loadDataDir: new Blob([copy]) });
  const database = await PGlite.create();
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
