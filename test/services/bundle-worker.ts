import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Bundles the source of a process that tests fork, so that plain Node runs it, without a loader. */
export async function bundleWorker(source: URL, outfile: string): Promise<void> {
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['pg-native'],
    logLevel: 'error',
  });
}
