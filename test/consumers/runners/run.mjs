// The same two tests in each runner, with the settings of docs/imports-and-versions.md.
import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';

for (const name of ['mock-server', 'msw']) {
  cpSync(`tests/${name}.test.js`, `tests/${name}.test.mjs`);
}
const modules = { NODE_OPTIONS: '--experimental-vm-modules' };
// The first test waits while Babel compiles undici: on a busy machine for more than Jest's five seconds.
const jest = ['--ci', '--testTimeout', '60000', '-c'];
const runs = [
  ['node_modules/jest/bin/jest.js', [...jest, 'jest.cjs.json']],
  ['node_modules/jest/bin/jest.js', [...jest, 'jest.esm.json'], modules],
  ['node_modules/vitest/vitest.mjs', ['run', '--globals', '--dir', 'tests', '.mjs']],
  ['--test', ['--import', './node-test.mjs', 'tests/mock-server.test.mjs', 'tests/msw.test.mjs']],
];
for (const [program, args, env] of runs) {
  execFileSync(process.execPath, [program, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  });
}
console.log(
  'Jest as CommonJS and as ES modules, vitest and node:test, each with the mock and with msw',
);
