// Peers and this package under the same faults. Writes results.json, and the tables of
// docs/the-field.md. It needs openssl, and Postgres at DATABASE_URL.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { measureCalls } from './calls.mjs';
import { measureCrashes } from './crashes.mjs';
import { versionOfServer } from './database.mjs';
import { measureDeliveries } from './deliveries.mjs';
import { writePage } from './page.mjs';

const require = createRequire(import.meta.url);
const { dependencies } = require('./package.json');

/** `pg` and `node` are only what the others run on. */
function versions() {
  const peers = Object.keys(dependencies).filter((name) => name !== 'pg' && name !== 'node');
  return Object.fromEntries(
    peers.map((name) => {
      const file = new URL(`node_modules/${name}/package.json`, import.meta.url);
      return [name, JSON.parse(readFileSync(file, 'utf8')).version];
    }),
  );
}

function oneResultALine(results) {
  const entries = Object.entries(results).map(([name, value]) => {
    const lines = Array.isArray(value) && value.map((one) => `    ${JSON.stringify(one)}`);
    return `  "${name}": ${lines ? `[\n${lines.join(',\n')}\n  ]` : JSON.stringify(value)}`;
  });
  return `{\n${entries.join(',\n')}\n}\n`;
}

const calls = await measureCalls();
console.log(`${calls.length} calls`);
const deliveries = await measureDeliveries();
console.log(`${deliveries.length} deliveries`);
const crashes = await measureCrashes();
console.log(`${crashes.length} crashes`);
const results = {
  date: new Date().toISOString().slice(0, 10),
  node: process.versions.node,
  postgres: await versionOfServer(),
  versions: versions(),
  calls,
  deliveries,
  crashes,
};
writeFileSync(new URL('results.json', import.meta.url), oneResultALine(results));
writePage(results);
// Mollie's calls without an end would keep the process alive.
process.exit();
