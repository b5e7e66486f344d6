// Checks every claim of claims.mjs, prints one line for each, and exits with 1 unless all of them are as expected.
// `node model/check.mjs one_payment` checks one claim; with --story, it tells how each limit comes about.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isInTheEnd, settings } from './claims.mjs';
import { build, eachOf, folder, tell, verify, withFolder } from './spin.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { story: { type: 'boolean', default: false } },
});
const isWanted = (claim) => positionals.length === 0 || positionals.includes(claim);

let count = 0;
let unexpected = 0;

async function check({ model, name, switches, holds = [], fails = [] }, isFair) {
  const claims = [...holds, ...fails].filter(
    (claim) => isInTheEnd(claim) === isFair && isWanted(claim),
  );
  if (claims.length === 0) return;
  const file = join(folder, `${model}.pml`);
  await withFolder(async (scratch) => {
    await build(file, switches, { scratch, isFair });
    for (const claim of claims) {
      const found = await verify(claim, { scratch, isFair });
      const isExpected = found.holds === holds.includes(claim);
      count += 1;
      if (!isExpected) unexpected += 1;
      const verdict = `${found.holds ? 'holds' : 'fails'}${isExpected ? ', as expected' : ', UNEXPECTED'}`;
      console.log(
        `${model.padEnd(9)}${claim.padEnd(31)}${verdict.padEnd(20)}${found.states.toLocaleString('en').padStart(10)} states ${found.seconds.toFixed(1).padStart(5)} s  ${name}`,
      );
      if (!found.holds && (values.story || !isExpected)) {
        console.log(await tell(file, switches, { scratch }));
      }
    }
  });
}

const tasks = settings.flatMap((setting) =>
  [false, true].map((isFair) => () => check(setting, isFair)),
);
await eachOf(tasks, Math.min(2, availableParallelism()));
console.log(`${count} claims in ${(performance.now() / 1_000).toFixed(0)} s, ${unexpected} unexpected`);
process.exitCode = unexpected === 0 && count > 0 ? 0 : 1;
