import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Sbom {
  metadata: { component: { purl: string } };
  components: { name: string; version: string; properties?: unknown; hashes: object[] }[];
}

/** Validating takes the process a second or two, and a loaded machine more. */
const PROCESS_MS = 60_000;

describe('the software bill of materials', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'merchant-payments-sbom-'));
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  let text: string;
  let sbom: Sbom;

  beforeAll(() => {
    text = makeSbom(folder);
    sbom = JSON.parse(text);
  }, PROCESS_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is of this version', () => {
    expect(sbom.metadata.component.purl).toBe(`pkg:npm/merchant-payments@${manifest.version}`);
  });

  it('names what is installed with the package, and what is built into its files', async () => {
    const bundled = await packagesBuiltIn();
    expect(sbom.components.filter(({ properties }) => !properties).map(({ name }) => name)).toEqual(
      Object.keys(manifest.dependencies),
    );
    expect(sbom.components.filter(({ properties }) => properties).map(({ name }) => name)).toEqual(
      bundled,
    );
    const notices = readFileSync('THIRD_PARTY_NOTICES', 'utf8');
    for (const name of bundled) expect(notices).toMatch(new RegExp(`^${name} \\d+ \\(http`, 'm'));
  });
});

function makeSbom(folder: string): string {
  execFileSync(process.execPath, ['scripts/make-sbom.mjs', folder]);
  const [file = ''] = readdirSync(folder);
  return readFileSync(path.join(folder, file), 'utf8');
}

/** The packages whose code gets into what is published: asked of the bundler. */
async function packagesBuiltIn(): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [
      ...readdirSync('src', { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('index.ts'))
        .map((file) => path.join('src', file)),
      'src/cli/main.ts',
      'src/mock-server/dashboard/app/main.tsx',
    ],
    external: [
      'undici',
      'msw',
      'msw/*',
      '@opentelemetry/api',
      'merchant-payments',
      'merchant-payments/*',
    ],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    bundle: true,
    write: false,
    outdir: 'out',
    platform: 'node',
    format: 'esm',
    loader: { '.css': 'text' },
    metafile: true,
    logLevel: 'silent',
  });
  const names = Object.keys(metafile.inputs).flatMap(
    (file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [],
  );
  return [...new Set(names)].sort();
}
