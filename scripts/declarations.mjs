// Builds the declarations of the public interface, each once and without private parts.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import ts from 'typescript';
import { entriesOf, subpaths } from './subpaths.mjs';

/** Rollup's output: a file for each subpath, and shared files. */
export async function bundleDeclarations(output) {
  const folder = mkdtempSync(path.join(tmpdir(), 'merchant-payments-declared-'));
  try {
    emitDeclarations(folder);
    const build = await rollup({
      input: entriesOf(subpaths, folder, '.d.ts'),
      external: [/^node:/, 'undici', 'msw', '@opentelemetry/api'],
      plugins: [dts({ tsconfig: false, compilerOptions: { noCheck: true, skipLibCheck: true } })],
    });
    const generated = await build.generate({ minifyInternalExports: false, ...output });
    await build.close();
    return generated.output;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// Without type checks, which `npm run check` does.
function emitDeclarations(outDir) {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, process.cwd());
  const program = ts.createProgram(Object.values(entriesOf(subpaths)), {
    ...options,
    noEmit: false,
    noCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: 'src',
    outDir,
  });
  const { diagnostics, emitSkipped } = program.emit();
  if (!emitSkipped && diagnostics.length === 0) return;
  const host = {
    getCanonicalFileName: (file) => file,
    getCurrentDirectory: () => process.cwd(),
    getNewLine: () => '\n',
  };
  throw new Error(ts.formatDiagnostics(diagnostics, host));
}
