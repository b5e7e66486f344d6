// Shows that no guard of the model is idle. A line with the comment "guard for <claim>" is deleted, and the claim
// must then fail in one of its settings. Exits with 1 if a guard is not missed.
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isInTheEnd, settings } from './claims.mjs';
import { build, eachOf, folder, verify, withFolder } from './spin.mjs';

const GUARD = /\/\* guard for (\w+): (.*) \*\//;

const FILE = 'changes.pml';

async function readGuards() {
  const lines = (await readFile(join(folder, FILE), 'utf8')).split('\n');
  return lines.flatMap((line, at) => {
    const [, claim, reason] = GUARD.exec(line) ?? [];
    if (claim === undefined) return [];
    return [{ line: at + 1, claim, reason, without: lines.toSpliced(at, 1).join('\n') }];
  });
}

/** Returns the first setting in which the claim fails without the guard. */
async function findCatch({ claim, without }) {
  const isFair = isInTheEnd(claim);
  return withFolder(async (scratch) => {
    await writeFile(join(scratch, FILE), without);
    for (const { name, switches, holds = [] } of settings) {
      if (!holds.includes(claim)) continue;
      await build(join(scratch, FILE), switches, { scratch, isFair, isMutant: true });
      const { holds: isHeld } = await verify(claim, { scratch, isFair });
      if (!isHeld) return name;
    }
    return undefined;
  });
}

let idle = 0;
const guards = await readGuards();
const tasks = guards.map((guard) => async () => {
  const found = await findCatch(guard);
  if (found === undefined) idle += 1;
  const verdict = found === undefined ? 'NOT MISSED' : `fails: ${found}`;
  console.log(
    `${FILE}:${guard.line}`.padEnd(18),
    guard.claim.padEnd(24),
    `without "${guard.reason}"`.padEnd(60),
    verdict,
  );
});
await eachOf(tasks, Math.min(2, availableParallelism()));
console.log(`${guards.length} guards, ${idle} not missed`);
process.exitCode = idle === 0 && guards.length > 0 ? 0 : 1;
