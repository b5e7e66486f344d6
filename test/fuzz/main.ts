import { readFileSync } from 'node:fs';
import { plainKinds } from '../redis/clients.js';
import { findMysql, findPostgres, findRedis } from '../services/find-servers.js';
import { drivers } from '../sqlite/open-database.js';
import { findPython } from './callback/oracle.js';
import { chooseSeed, type FuzzOptions, type FuzzResult } from './property-runs.js';
import { fuzzStore } from './store/histories.js';
import { inMemory, openPgliteStore } from './store/process-stores.js';
import {
  openMysqlStore,
  openPostgresStore,
  openRedisStore,
  openSqliteStore,
} from './store/server-stores.js';
import type { StoreUnderTest } from './store/store.js';
import { targets } from './targets.js';

// Fuzzing at full size: `node --import tsx test/fuzz/main.ts`. FUZZ_SEED repeats a run, FUZZ_CASES sets how many cases
// each target gets, FUZZ_TARGETS names those to run, by the beginnings of their names: verifiers,store.

const { FUZZ_CASES, FUZZ_TARGETS = '' } = process.env;
const seed = chooseSeed();
const python = findPython();

interface Run {
  readonly name: string;
  readonly cases: number;
  readonly unit: string;
  readonly skipped?: string | undefined;
  run(options: FuzzOptions): Promise<FuzzResult>;
}

type OpenableStore = StoreUnderTest & { end?(): Promise<void> };

const HISTORIES = 'histories of up to 20 commands, against a model';

function storeRun(
  name: string,
  cases: number,
  open: (() => OpenableStore | Promise<OpenableStore>) | undefined,
): Run {
  return {
    name: `store-${name}`,
    cases,
    unit: HISTORIES,
    skipped: open === undefined ? 'no server was found' : undefined,
    async run(options) {
      const store = await open?.();
      if (store === undefined) throw new Error(`${name} can't be opened`);
      try {
        return await fuzzStore(store, options);
      } finally {
        await store.end?.();
      }
    },
  };
}

const [postgres, mysql, redis] = await Promise.all([findPostgres(), findMysql(), findRedis()]);
const runs: readonly Run[] = [
  ...targets.map(({ needsPython, ...target }) => ({
    ...target,
    skipped: needsPython && python === undefined ? 'no python3 was found' : undefined,
  })),
  storeRun('memory', 50_000, () => inMemory),
  storeRun('pglite', 1_000, openPgliteStore),
  ...plainKinds.map((kind) =>
    storeRun(kind.name, 5_000, redis && (() => openRedisStore(kind, redis.url))),
  ),
  ...drivers.map((driver) => storeRun(driver.name, 5_000, () => openSqliteStore(driver))),
  storeRun('postgres', 1_000, postgres && (() => openPostgresStore(postgres.url))),
  storeRun('mysql', 1_000, mysql && (() => openMysqlStore(mysql.url))),
];

const wanted = FUZZ_TARGETS.split(',').filter((name) => name !== '');
const chosen = runs.filter(
  ({ name }) => wanted.length === 0 || wanted.some((start) => name.startsWith(start)),
);

console.log(`Seed ${seed}; FUZZ_SEED=${seed} repeats this run.`);
const lines: string[] = [];
let total = 0;
try {
  for (const run of chosen) await runOne(run);
} finally {
  await Promise.all([postgres, mysql, redis].map((server) => server?.stop?.()));
}
const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
console.log(
  [
    '',
    `Fuzzing, ${new Date().toISOString().slice(0, 10)}: merchant-payments ${version}, Node ${process.version}, ${python ?? 'no Python'}, seed ${seed}`,
    ...lines,
    `${total} cases, ${process.exitCode ? 'with failures' : 'none failed'}`,
  ].join('\n'),
);

async function runOne({ name, cases, unit, skipped, run }: Run): Promise<void> {
  if (skipped !== undefined) {
    lines.push(`${name}: SKIPPED, ${skipped}`);
    console.log(lines.at(-1));
    if (process.env['CI'] === 'true') process.exitCode = 1;
    return;
  }
  const startedAt = performance.now();
  try {
    const result = await run({ seed, cases: Number(FUZZ_CASES ?? cases) });
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const counts = Object.entries(result.counts).map(([what, count]) => `${what} ${count}`);
    total += result.cases;
    lines.push(`${name}: ${result.cases} ${unit}, ${seconds} s (${counts.join(', ')})`);
    console.log(lines.at(-1));
  } catch (error) {
    // fast-check's message has the seed, the path and the smallest case that fails.
    console.error(`${name} FAILED with seed ${seed}:`, error);
    lines.push(`${name}: FAILED`);
    process.exitCode = 1;
  }
}
