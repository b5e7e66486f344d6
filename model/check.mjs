// Checks every claim of claims.mjs, prints one line for each, and exits with 1 unless all of them are as expected.
// `node model/check.mjs one_payer` checks one claim. With --story, only the claims that fail: the shortest way to each
// failure.
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

async function check(setting, isFair) {
  const { switches, holds = [], fails = [] } = setting;
  const claims = [...(values.story ? [] : holds), ...fails].filter(
    (claim) => isInTheEnd(claim) === isFair && isWanted(claim),
  );
  if (claims.length === 0) return;
  const file = join(folder, 'changes.pml');
  await withFolder(async (scratch) => {
    await build(file, switches, { scratch, isFair, isShort: values.story });
    for (const claim of claims) {
      const found = await verify(claim, { scratch, isFair });
      const isExpected = found.holds === holds.includes(claim);
      count += 1;
      if (!isExpected) unexpected += 1;
      print(setting, claim, { ...found, isExpected });
      if (!found.holds && values.story) console.log(await tell(file, switches, { scratch }));
    }
  });
}

function print({ name }, claim, { holds, isExpected, states, seconds }) {
  const verdict = `${holds ? 'holds' : 'fails'}, ${isExpected ? 'as expected' : 'UNEXPECTED'}`;
  const columns = [
    claim.padEnd(30),
    verdict.padEnd(18),
    `${states.toLocaleString('en').padStart(9)} states`,
    `${seconds.toFixed(1).padStart(4)} s`,
    name,
  ];
  console.log(columns.join('  '));
}

const tasks = settings.flatMap((setting) =>
  [false, true].map((isFair) => () => check(setting, isFair)),
);
await eachOf(tasks, Math.min(2, availableParallelism()));
console.log(
  `${count} claims in ${(performance.now() / 1_000).toFixed(0)} s, ${unexpected} unexpected`,
);
process.exitCode = unexpected === 0 && count > 0 ? 0 : 1;
