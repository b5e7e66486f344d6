// Rehearses RELEASING.md against a registry on this machine: two versions of the last commit, each from a clean
// clone by the commands of .github/workflows/release.yml, installed as a user would.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';

const NAME = 'merchant-payments';
const folder = mkdtempSync(path.join(tmpdir(), `${NAME}-rehearsal-`));
const inFolder = (...names) => path.join(folder, ...names);
const { jobs } = parse(readFileSync('.github/workflows/release.yml', 'utf8'));
const commandsOf = (job) => jobs[job].steps.flatMap(({ run }) => run ?? []);

let registry;
try {
  registry = await startRegistry();
  if (run('git', ['status', '--porcelain'], { quiet: true }) !== '') {
    console.log('Only the last commit is rehearsed, without uncommitted changes.');
  }
  const [first, second] = versionsToRehearse();
  run('git', ['clone', '--quiet', '--bare', process.cwd(), inFolder('origin.git')]);
  run('git', ['clone', '--quiet', inFolder('origin.git'), inFolder('work')]);

  const user = inFolder('user');
  mkdirSync(user);
  writeFileSync(path.join(user, 'package.json'), '{ "private": true, "type": "module" }');
  for (const version of [first, second]) {
    const tarball = release(version);
    install(user, version, tarball);
  }
  refusesTheSameVersion(second);
  refusesOtherBytes(user, second);
  console.log(`\nRehearsed: ${first} and ${second}, published and installed.`);
} finally {
  registry?.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the next version according to CHANGELOG.md, and the minor version after it. */
function versionsToRehearse() {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const next = /^## (\S+) - unreleased$/m.exec(readFileSync('CHANGELOG.md', 'utf8'))?.[1];
  const first = next ?? minorAfter(version);
  return [first, minorAfter(first)];
}

function minorAfter(version) {
  const [major, minor] = version.split('.').map(Number);
  return `${major}.${minor + 1}.0`;
}

/** Does what RELEASING.md asks of a maintainer, then what the workflow does. Returns the tarball. */
function release(version) {
  step(`${version}: prepared, tagged and pushed`);
  const work = inFolder('work');
  writeEntry(path.join(work, 'CHANGELOG.md'), version);
  run(process.execPath, ['scripts/set-version.mjs', version], { cwd: work });
  const author = ['-c', 'user.name=Rehearsal', '-c', 'user.email=rehearsal@localhost'];
  run('git', [...author, 'commit', '--quiet', '--all', '-m', `Version ${version}`], { cwd: work });
  run('git', [...author, 'tag', '-a', `v${version}`, '-m', version], { cwd: work });
  run('git', ['push', '--quiet', 'origin', 'HEAD:refs/heads/main', `v${version}`], { cwd: work });

  step(`${version}: packed from a clean clone`);
  const clone = inFolder(`pack-${version}`);
  const from = ['--quiet', '--branch', `v${version}`, '-c', 'advice.detachedHead=false'];
  run('git', ['clone', ...from, inFolder('origin.git'), clone]);
  run(process.execPath, ['scripts/check-release.mjs', `v${version}`], { cwd: clone });
  for (const command of commandsOf('pack')) inWorkflow(command, clone);

  step(`${version}: published`);
  const publish = commandsOf('stage').find((command) => command.startsWith('npm stage publish'));
  // The registry knows neither a stage nor the identity of a workflow.
  const here = publish.replace('npm stage publish', 'npm publish').replace(' --provenance', '');
  console.log(`In place of \`${publish}\`:`);
  shell(here, clone, toRegistry());
  const [tarball] = readdirSync(path.join(clone, 'release')).filter((name) =>
    name.endsWith('.tgz'),
  );
  return path.join(clone, 'release', tarball);
}

/** An entry for a version that has none yet. */
function writeEntry(file, version) {
  const text = readFileSync(file, 'utf8');
  if (text.includes(`## ${version} - unreleased`)) return;
  const entry = `## ${version} - unreleased\n\n### Changed\n\n- A rehearsal of ${version}.\n\n`;
  writeFileSync(file, text.replace(/^## /m, `${entry}## `));
}

function inWorkflow(command, cwd) {
  if (command.includes('--global')) {
    console.log('$ (npm by its digest)\n  left out: it would change this machine');
    return;
  }
  const env = { GITHUB_SERVER_URL: 'https://git.example', GITHUB_REPOSITORY: `merchants/${NAME}` };
  if (!command.startsWith('npm audit')) return shell(command, cwd, env);
  console.log(`$ ${command}`);
  const { status, stderr } = spawnSync(command, { cwd, shell: true, encoding: 'utf8' });
  const [reason] = /(?<=^npm error )(?!code |syscall |errno )\S.*/m.exec(stderr) ?? [
    `exit ${status}`,
  ];
  console.log(status === 0 ? '  passed' : `  NOT CHECKED, or failed: ${reason}`);
}

function install(user, version, tarball) {
  step(`${version}: installed as a user`);
  npm(['install', `${NAME}@${version}`], user);
  const { version: installed } = readJson(user, 'node_modules', NAME, 'package.json');
  equal('the installed version', installed, version);
  const { packages } = readJson(user, 'package-lock.json');
  const digest = createHash('sha512').update(readFileSync(tarball)).digest('base64');
  equal('the locked digest', packages[`node_modules/${NAME}`].integrity, `sha512-${digest}`);
  const says = run('npx', ['--no-install', NAME, '--version'], { cwd: user, quiet: true });
  equal('what the command line says', says.trim().split(/\s+/).at(-1), version);
  const script = `import { PaymentClient } from '${NAME}';
    await new PaymentClient({ baseUrl: 'https://payments.example', apiKey: 'k', apiSecret: 's' }).close();`;
  run(process.execPath, ['--input-type=module', '-e', script], { cwd: user });
  const changelog = readFileSync(path.join(user, 'node_modules', NAME, 'CHANGELOG.md'), 'utf8');
  const today = new Date().toISOString().slice(0, 10);
  equal('the newest entry', /^## .+$/m.exec(changelog)?.[0], `## ${version} - ${today}`);
  const latest = npm(['view', NAME, 'dist-tags.latest'], user).trim();
  equal('latest', latest, version);
}

function refusesTheSameVersion(version) {
  step(`${version}: cannot be published again`);
  const clone = inFolder(`pack-${version}`);
  const [tarball] = readdirSync(path.join(clone, 'release')).filter((name) =>
    name.endsWith('.tgz'),
  );
  const args = ['publish', `./release/${tarball}`, '--ignore-scripts'];
  const { status, stderr } = attempt('npm', args, clone);
  if (status === 0 || !stderr.includes('cannot publish over')) {
    throw new Error(`The version was not refused: ${stderr}`);
  }
  console.log('  refused');
}

function refusesOtherBytes(user, version) {
  step(`${version}: other bytes under its name are not installed`);
  const stored = inFolder('storage', NAME, `${NAME}-${version}.tgz`);
  writeFileSync(stored, Buffer.concat([readFileSync(stored), Buffer.from('changed')]));
  rmSync(inFolder('cache'), { recursive: true, force: true });
  const { status, stderr } = attempt('npm', ['ci'], user);
  // By its digest, or before that by what npm unpacks while it computes one.
  if (status === 0 || !/EINTEGRITY|seems to be corrupted/.test(stderr)) {
    throw new Error(`Other bytes were not refused: ${stderr}`);
  }
  console.log('  refused');
}

/** verdaccio, for this package alone; all others come from the registry that npm uses here. */
async function startRegistry() {
  const options = ['--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  run('npm', ['install', '--prefix', 'test/release/registry', ...options]);
  const upstream = run('npm', ['config', 'get', 'registry'], { quiet: true }).trim();
  const port = await findFreePort();
  writeFileSync(
    inFolder('verdaccio.json'),
    JSON.stringify({
      storage: inFolder('storage'),
      auth: { htpasswd: { file: inFolder('htpasswd') } },
      uplinks: { upstream: { url: upstream } },
      packages: {
        [NAME]: { access: '$all', publish: '$authenticated' },
        '**': { access: '$all', proxy: 'upstream' },
      },
      log: { type: 'file', path: inFolder('verdaccio.log'), level: 'warn' },
    }),
  );
  const main = path.resolve('test/release/registry/node_modules/verdaccio/bin/verdaccio');
  const args = [main, '--config', inFolder('verdaccio.json'), '--listen', `127.0.0.1:${port}`];
  const server = spawn(process.execPath, args, { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}/`;
  while (
    !(await fetch(`${url}-/ping`).then(
      (answer) => answer.ok,
      () => false,
    ))
  ) {
    if (server.exitCode !== null) throw new Error('The registry did not start');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const created = await fetch(`${url}-/user/org.couchdb.user:maintainer`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'maintainer', password: 'rehearsal' }),
  });
  const { token } = await created.json();
  writeFileSync(inFolder('npmrc'), `//127.0.0.1:${port}/:_authToken=${token}\nregistry=${url}\n`);
  return server;
}

async function findFreePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function toRegistry() {
  const registryOfRun = /registry=(.+)/.exec(readFileSync(inFolder('npmrc'), 'utf8'))?.[1];
  return {
    npm_config_userconfig: inFolder('npmrc'),
    npm_config_registry: registryOfRun,
    npm_config_cache: inFolder('cache'),
  };
}

function npm(args, cwd) {
  return run('npm', [...args, '--no-audit', '--no-fund'], { cwd, env: toRegistry(), quiet: true });
}

function attempt(command, args, cwd) {
  const env = { ...process.env, ...toRegistry() };
  return spawnSync(command, args, { cwd, env, encoding: 'utf8' });
}

function shell(command, cwd, env) {
  console.log(`$ ${command}`);
  run('bash', ['-euo', 'pipefail', '-c', command], { cwd, env, quiet: true });
}

function run(command, args, { cwd, env, quiet = false } = {}) {
  if (!quiet) console.log(`$ ${[path.basename(command), ...args].join(' ').split('\n')[0]}`);
  return execFileSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function readJson(...names) {
  return JSON.parse(readFileSync(path.join(...names), 'utf8'));
}

function equal(what, actual, expected) {
  if (actual !== expected) throw new Error(`${what} must be ${expected}, but is ${actual}`);
  console.log(`  ${what}: ${actual}`);
}

function step(text) {
  console.log(`\n== ${text}`);
}
