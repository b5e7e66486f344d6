import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Bundles an entry with all that it imports. */
async function graphOf(entry: string) {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  });
  const outputs = Object.values(metafile.outputs);
  return {
    inputs: Object.keys(metafile.inputs),
    text: outputFiles.map(({ text }) => text).join(''),
    imports: outputs.flatMap(({ imports }) => imports.map(({ path }) => path)),
  };
}

const entry = 'src/callback/index.ts';

describe('./callback', async () => {
  const { inputs, imports, text } = await graphOf(entry);

  // node:crypto takes as long to load as all the rest: it is loaded with the first verifier.
  it('imports no package and no module of Node', () => {
    expect(imports).toEqual([]);
  });

  it('holds no other package than zod, in its small form', () => {
    const others = inputs.filter((path) => path.includes('node_modules'));
    expect(others).toContain('node_modules/zod/v4/mini/schemas.js');
    expect(others.filter((path) => !/^node_modules\/zod\/(?!v4\/classic\/)/.test(path))).toEqual(
      [],
    );
  });

  // A Content-Security-Policy or a runtime may forbid it.
  it('generates no code', () => {
    expect(text).not.toMatch(/\bnew F(?:unction)?\(|\bFunction\(|\beval\(/);
  });

  it('holds nothing of the client and the mock service', () => {
    const own = inputs.filter((path) => path.startsWith('src/'));
    expect(own).toContain(entry);
    expect(
      own.filter(
        (path) => !/^src\/(callback|protocol)\/|^src\/error(s|-base|-codes)\.ts$/.test(path),
      ),
    ).toEqual([]);
  });
});
