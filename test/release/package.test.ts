import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

it('runs nothing on the machine that installs the package', () => {
  const atInstall = [
    'preinstall',
    'install',
    'postinstall',
    'prepare',
    'preprepare',
    'postprepare',
  ];
  expect(Object.keys(scripts).filter((name) => atInstall.includes(name))).toEqual([]);
});

const locked = [
  '.',
  'bench',
  'scripts',
  'test',
  'test/mutation',
  'test/runtimes/binaries',
  'test/runtimes/nodes',
];
it.each(locked)('every package that %s locks has a digest', (folder) => {
  const { packages } = JSON.parse(readFileSync(`${folder}/package-lock.json`, 'utf8'));
  const without = Object.entries<{ integrity?: string; link?: boolean; inBundle?: boolean }>(
    packages,
  ).filter(([name, entry]) => name !== '' && !entry.link && !entry.inBundle && !entry.integrity);
  expect(without.map(([name]) => name)).toEqual([]);
});
