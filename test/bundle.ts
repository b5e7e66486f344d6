import { build } from 'esbuild';

type EntryPoints = Readonly<Record<string, string>>;

/**
 * Bundles programs on the package's sources, by the names of their files in a folder within the project. Plain
 * Node runs them: with `--import tsx` each start takes a second or more of the processor.
 */
export async function bundle(
  entryPoints: EntryPoints,
  outdir: string,
  tsconfig = 'tsconfig.json',
): Promise<void> {
  await build({
    entryPoints,
    outdir,
    tsconfig,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
}
