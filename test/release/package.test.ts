import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
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

it('npm test imports no package that only test/package.json names', async () => {
  const elsewhere = ['services', 'browser', 'guide'].map((kind) => `:!test/*.${kind}.test.ts`);
  const tests = execFileSync(
    'git',
    ['ls-files', 'test/*.test.ts', ':!test/package', ':!test/release', ...elsewhere],
    { encoding: 'utf8' },
  );
  const { metafile } = await build({
    entryPoints: tests.trim().split('\n'),
    outdir: 'test-artifacts/never-written',
    bundle: true,
    write: false,
    splitting: true,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external).map(({ path }) => path),
  );
  const { dependencies } = JSON.parse(readFileSync('test/package.json', 'utf8'));
  const found = Object.keys(dependencies).filter((name) =>
    imported.some((path) => path === name || path.startsWith(`${name}/`)),
  );
  expect(imported).toContain('vitest');
  expect(found).toEqual([]);
});
