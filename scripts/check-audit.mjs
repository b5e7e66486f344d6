// Known vulnerabilities, by npm audit. Fails for any in what users install, and for "high" or "critical" ones
// in what builds and tests the project, whose packages are in several folders. If the registry serves no audits, it says so and passes; a release
// needs one that does.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const parts = [
  { what: 'what users install', level: 'low', options: ['--omit=dev'] },
  { what: 'what it is built and tested with', level: 'high', options: [] },
  ...['scripts', 'test', 'test/mutation']
    .filter((folder) => existsSync(`${folder}/package-lock.json`))
    .map((folder) => ({
      what: `what ${folder}/package.json names`,
      level: 'high',
      options: ['--prefix', folder],
    })),
];

for (const { what, level, options } of parts) {
  const { stdout, status } = spawnSync(
    'npm',
    ['audit', '--json', `--audit-level=${level}`, ...options],
    { encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const report = parse(stdout);
  if (report?.vulnerabilities === undefined) {
    const reason = report?.statusCode ?? report?.error?.code ?? 'no answer';
    console.log(
      `NOT AUDITED: the registry serves no audits (${reason}), so ${what} was not checked`,
    );
    continue;
  }
  const found = Object.values(report.vulnerabilities);
  for (const { name, severity, via } of found) {
    const titles = via.map((one) => (typeof one === 'string' ? `by ${one}` : one.title));
    console.log(`${severity}: ${name}: ${titles.join('; ')}`);
  }
  console.log(`Audited ${what}: ${found.length} vulnerable, failing from ${level} on`);
  if (status !== 0) process.exitCode = 1;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
