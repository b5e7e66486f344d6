import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where the models are. */
export const folder = import.meta.dirname;

/** Passes a new folder to `use`, and removes it afterwards. */
export async function withFolder(use) {
  const scratch = await mkdtemp(join(tmpdir(), 'model-'));
  try {
    return await use(scratch);
  } finally {
    await rm(scratch, { recursive: true });
  }
}

function defines(switches = {}) {
  return Object.entries(switches).map(([name, value]) => `-D${name}=${value}`);
}

/**
 * Compiles a model's verifier in a folder.
 *
 * @param options `isFair`: whether it looks for cycles in which a process that could take a step never does;
 * `isMutant`: a verifier that is faster to compile, and accepts a condition that is always true; `isShort`: whether it
 * looks for the shortest way to a failure
 */
export async function build(
  file,
  switches,
  { scratch, isFair, isMutant = false, isShort = false },
) {
  const merge = isMutant ? ['-o3'] : [];
  const { stdout } = await run('spin', ['-a', ...merge, ...defines(switches), file], {
    cwd: scratch,
  });
  if (stdout.includes('Error')) throw new Error(`${file} is invalid:\n${stdout}`);
  const kind = isFair ? ['-DNFAIR=3'] : ['-DSAFETY', ...(isShort ? ['-DBFS'] : [])];
  const flags = [isMutant ? '-O0' : '-O1', '-w', '-DCOLLAPSE', ...kind];
  await run('gcc', [...flags, '-o', 'pan', 'pan.c'], { cwd: scratch });
}

/** Explores every state that a claim depends on, unless it finds one in which the claim fails. */
export async function verify(claim, { scratch, isFair }) {
  const startedAtMs = performance.now();
  const options = ['-m100000', '-w22', ...(isFair ? ['-a', '-f'] : []), '-N', claim];
  const { stdout } = await run(join(scratch, 'pan'), options, { cwd: scratch });
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const states = stdout.match(/^\s*([0-9.e+]+) states, stored/m)?.[1];
  const errors = stdout.match(/errors: (\d+)/)?.[1];
  const isComplete = !stdout.includes('max search depth too small');
  if (states === undefined || errors === undefined || !isComplete) {
    throw new Error(`${claim} was not checked:\n${stdout}`);
  }
  return { holds: errors === '0', states: Number(states), seconds };
}

/** Tells how the claim came to fail: who changed which variables, in turn. */
export async function tell(file, switches, { scratch }) {
  const trail = join(scratch, `${file.split('/').at(-1)}.trail`);
  const options = ['-t', '-p', '-g', '-l', '-k', trail, ...defines(switches), file];
  const { stdout } = await run('spin', options, { cwd: scratch, maxBuffer: 2 ** 26 }).catch(
    // It exits with 1 because the claim fails.
    (error) => error,
  );
  const known = new Map();
  const steps = [];
  for (const line of stdout.split('\n')) {
    const who = line.match(/proc +(\d+) \((\w+)/);
    const [, name, value] = line.match(/^\t\t(?:\w+\(\d+\):)?([\w[\]]+) = (\w+)$/) ?? [];
    if (who !== null) {
      const actor = `${who[2]} ${who[1]}`;
      if (steps.at(-1)?.actor !== actor) steps.push({ actor, changes: [] });
    } else if (name !== undefined && (known.get(name) ?? '0') !== value) {
      known.set(name, value);
      steps.at(-1)?.changes.push(`${name} = ${value}`);
    }
  }
  return steps
    .filter(({ changes }) => changes.length > 0)
    .map(({ actor, changes }) => `    ${actor.padEnd(12)} ${changes.join(', ')}`)
    .join('\n');
}

/** Runs tasks, a few at once. */
export async function eachOf(tasks, atOnce) {
  const waiting = tasks.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const task of waiting) await task();
    }),
  );
}
