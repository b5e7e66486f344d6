import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { toRedisName } from '../../src/redis/scripts.js';
import { databaseForms } from '../../src/store/sql/sql.js';

test.each([
  'payment-1',
  '',
  'with blanks',
  '{braces}',
  'sha256:looks like a digest',
  'x'.repeat(128),
  'x'.repeat(129),
  'ünï\u0000',
  '\ud800',
  '\udfff',
  ...Array.from({ length: 50 }, (_, index) => `one of many, for + and / ${index}`),
])('a name is stored as by every other store: %j', async (name) => {
  expect(await toRedisName(name)).toBe(databaseForms.toName(name));
});

test('the store runs without any module of Node', async () => {
  const { metafile } = await build({
    entryPoints: ['src/redis/index.ts'],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  });
  const [output] = Object.values(metafile.outputs);
  expect(output?.imports).toEqual([]);
});
