import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from './paired-batches.mjs';
import { atMost, isStarted, plainRow, report } from './report.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const dist = (path) => new URL(`../dist/${path}`, import.meta.url).href;

const subjects = {
  'merchant-payments/callback': dist('callback/index.js'),
  'merchant-payments': dist('index.js'),
  zod: 'zod',
  undici: 'undici',
  stripe: 'stripe',
  openai: 'openai',
  axios: 'axios',
};

const ROUNDS = 31;

/** Importing in a fresh process: milliseconds beyond an empty process, compared. */
export function measureImport() {
  const beyondEmpty = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  // The first round fills the disk cache and does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const name in subjects) {
      // An empty process for each, right beside it: starting one takes longer than what is measured.
      const before = timeProcess('');
      const loaded = timeProcess(`import ${JSON.stringify(subjects[name])}`);
      const after = timeProcess('');
      if (round > 0) beyondEmpty[name].push(loaded - (before + after) / 2);
    }
  }
  const ms = (name) => median(beyondEmpty[name]);
  const inZods = ms('merchant-payments/callback') / ms('zod');
  const inUndicis = ms('merchant-payments') / ms('undici');
  return {
    title: 'import: a fresh process for each, time beyond that of an empty one',
    rows: [
      atMost('merchant-payments/callback, ratio to zod from node_modules', inZods, 0.15),
      atMost('merchant-payments, ratio to undici', inUndicis, 0.2),
      nothingFromNodeModules('files of node_modules behind callback, import', listImported()),
      nothingFromNodeModules('files of node_modules behind callback, require', listRequired()),
      ...Object.keys(subjects).map((name) =>
        plainRow(`  ${name}, ratio to undici`, ms(name) / ms('undici')),
      ),
    ],
  };
}

function timeProcess(code) {
  const startedAt = performance.now();
  runNode(code);
  return performance.now() - startedAt;
}

function runNode(code, inputType = 'module') {
  const args = [`--input-type=${inputType}`, '--eval', code];
  return execFileSync(process.execPath, args, { cwd: here, encoding: 'utf8' });
}

function nothingFromNodeModules(subject, files) {
  const value = files.filter((file) => file.includes('/node_modules/')).length;
  return { subject, value, figure: String(value), goal: 'none', met: value === 0 };
}

// A loader hook sees every module of the graph as it is loaded.
const reportLoads = `
  import { writeSync } from 'node:fs';
  export function load(url, context, nextLoad) {
    writeSync(1, url + '\\n');
    return nextLoad(url, context);
  }`;

function listImported() {
  const hook = `data:text/javascript,${encodeURIComponent(reportLoads)}`;
  const target = JSON.stringify(dist('callback/index.js'));
  return loadedFiles(
    runNode(`
      import { register } from 'node:module';
      register(${JSON.stringify(hook)});
      await import(${target});`),
    'callback/index.js',
  );
}

function listRequired() {
  const file = fileURLToPath(dist('callback/index.cjs'));
  return loadedFiles(
    runNode(
      `require(${JSON.stringify(file)}); console.log(Object.keys(require.cache).join('\\n'))`,
      'commonjs',
    ),
    'callback/index.cjs',
  );
}

// A list without the entry itself would mean that nothing was watched.
function loadedFiles(output, entry) {
  const files = output.trim().split('\n');
  if (files.some((file) => file.endsWith(entry))) return files;
  throw new Error(`${entry} is not among the files that were loaded`);
}

if (isStarted(import.meta.url)) report([measureImport()]);
