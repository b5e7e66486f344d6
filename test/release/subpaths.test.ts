import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const { subpaths } = (await import(path.resolve('scripts/subpaths.mjs'))) as { subpaths: string[] };

it('package.json exports what the list of subpaths names', () => {
  execFileSync(process.execPath, ['scripts/subpaths.mjs']);
});

it.each(subpaths)('merchant-payments/%s is a folder of the sources', (subpath) => {
  expect(existsSync(path.join('src', subpath, 'index.ts'))).toBe(true);
});
