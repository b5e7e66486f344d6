import { type BuildOptions, transform } from 'esbuild';
import { defineConfig } from 'tsup';
// @ts-expect-error: plain JavaScript, as all scripts are.
import { subpaths as exported } from './scripts/exports.mjs';

const subpaths: readonly string[] = exported;

// From many files, these would take several times as long to load.
const inOneFile = ['', 'callback'];

// Built as CommonJS alone, which scripts/build.mjs re-exports: a second build would double the installed size,
// and no browser or edge runtime bundles these.
const oneImplementation = ['postgres', 'mysql', 'sqlite', 'redis', 'mock-server', 'testing'];

// Dependencies and peers are not bundled, and neither is the package where it imports itself by its name.
const external = [/^merchant-payments(?:\/|$)/];
const target = 'node20.18';
// zod keeps its settings in a global object, which a user's zod has too: with settings of its own, the bundled one
// neither obeys the user's nor changes them.
const define = { 'globalThis.__zod_globalConfig': '{ "jitless": true }' };
// Not minified: readable where it is installed. The documentation is in the declarations.
const modules = { format: 'esm', target, external, splitting: true, define } as const;
const withChunksIn = (folder: string) => ({
  esbuildOptions(options: BuildOptions) {
    options.chunkNames = `${folder}/[name]-[hash]`;
  },
});

// esbuild shares code only between ES modules, so these become CommonJS afterwards; without `import()`, which
// is refused in the VM where Jest runs CommonJS.
const toCommonJs = {
  name: 'to-commonjs',
  async renderChunk(code: string) {
    const options = { format: 'cjs', platform: 'node', target } as const;
    const made = await transform(code, { ...options, supported: { 'dynamic-import': false } });
    return { ...made, code: `${made.code}${PLAIN_EXPORTS}` };
  },
};

// esbuild reads each import through two getters, which is a twentieth of what a callback costs. Nothing that is exported
// changes, and no file imports one that imports it.
const PLAIN_EXPORTS =
  "module.exports = Object.defineProperty({ ...module.exports }, '__esModule', { value: true });\n";

export default defineConfig([
  { ...modules, entry: modulesOf(inOneFile), splitting: false },
  { ...modules, entry: modulesOf(['callback']), splitting: false, format: 'cjs' },
  {
    ...modules,
    ...withChunksIn('shared'),
    entry: modulesOf(
      subpaths.filter((name) => ![...inOneFile, ...oneImplementation].includes(name)),
    ),
  },
  { ...modules, ...withChunksIn('cli'), entry: { 'cli/main': 'src/cli/main.ts' } },
  {
    ...modules,
    ...withChunksIn('shared'),
    entry: modulesOf(subpaths.filter((name) => name !== 'callback')),
    outExtension: () => ({ js: '.cjs' }),
    // CommonJS has `__filename` instead.
    define: { ...define, 'import.meta.url': 'undefined' },
    plugins: [toCommonJs],
  },
  // From declarations that tsc has written: from the sources, this takes ten times as long.
  {
    format: 'cjs',
    external,
    entry: modulesOf(subpaths, 'dist-declarations', '.d.ts'),
    dts: { only: true },
  },
]);

function modulesOf(
  names: readonly string[],
  folder = 'src',
  ending = '.ts',
): Record<string, string> {
  const files = names.map((name) => (name === '' ? 'index' : `${name}/index`));
  return Object.fromEntries(files.map((file) => [file, `${folder}/${file}${ending}`]));
}
