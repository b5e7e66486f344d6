import { readdirSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What a process holds: bytes on the heap, and what keeps it alive or is open, by kind. */
export interface Holdings {
  readonly heapUsed: number;
  readonly handles: Readonly<Record<string, number>>;
}

/** Idle connections of undici and of Node's server close after 4 and 5 seconds, on a machine at rest. */
const PATIENCE_MS = 60_000;

/** Measures what is held once it is no more than `atRest`, or after a minute. */
export async function measure(atRest?: Holdings['handles']): Promise<Holdings> {
  const endMs = performance.now() + PATIENCE_MS;
  while (atRest && !isDeepStrictEqual(countHandles(), atRest) && performance.now() < endMs) {
    await pause(100);
    // Past the turn of the timer that has just run.
    await nextTurn();
  }
  const handles = countHandles();
  // Several times, in turns of their own: finalizers and weak references free the next generation.
  for (let round = 0; round < 6; round += 1) {
    collectGarbage();
    await nextTurn();
  }
  return { heapUsed: process.memoryUsage().heapUsed, handles };
}

function countHandles(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of [...process.getActiveResourcesInfo(), ...openFiles()].sort()) {
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** By kind; nothing where the system does not tell. */
function openFiles(): string[] {
  const folder = '/proc/self/fd';
  try {
    return readdirSync(folder).map((name) => {
      try {
        return readlinkSync(`${folder}/${name}`).replace(/:.*/, '');
      } catch {
        // The listing itself, which is gone by now.
        return 'file of the listing';
      }
    });
  } catch {
    return [];
  }
}
