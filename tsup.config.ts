import { cpSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, type Options } from 'tsup';

const entries = {
  index: 'src/index.ts',
  'callback/index': 'src/callback/index.ts',
  'callback/web/index': 'src/callback/web/index.ts',
  'receiver/index': 'src/receiver/index.ts',
  'node/index': 'src/node/index.ts',
  'fetch/index': 'src/fetch/index.ts',
  'fastify/index': 'src/fastify/index.ts',
  'lambda/index': 'src/lambda/index.ts',
  'inbox/index': 'src/inbox/index.ts',
  'inbox/contract/index': 'src/inbox/contract/index.ts',
  'inbox/postgres/index': 'src/inbox/postgres/index.ts',
  'inbox/redis/index': 'src/inbox/redis/index.ts',
  'inbox/sqlite/index': 'src/inbox/sqlite/index.ts',
  'mock-server/index': 'src/mock-server/index.ts',
  'msw/index': 'src/msw/index.ts',
  'testing/index': 'src/testing/index.ts',
};

// Half the size on the merchant's disk. Functions and classes keep their names, so that a stack and
// a logged error still say where and what.
const minified: Options = {
  minify: 'terser',
  terserOptions: {
    module: true,
    ecma: 2020,
    keep_classnames: true,
    keep_fnames: true,
    // esbuild makes `var ApiError = class {`: there the name is the variable's.
    mangle: { reserved: listClassNames() },
    format: { preserve_annotations: true },
  },
};

// Jest runs CommonJS in a VM that refuses `import()`: there the module that is loaded late is required.
const lateRequire: NonNullable<Options['plugins']>[number] = {
  name: 'late-require',
  renderChunk(code) {
    if (this.format !== 'cjs') return undefined;
    const changed = code.replaceAll(
      /\bimport\(("\w+")\)/g,
      'Promise.resolve().then(() => require($1))',
    );
    if (/\bimport\(/.test(changed)) throw new Error('An import() is left in the CommonJS build');
    return { code: changed };
  },
};

const common: Options = {
  ...minified,
  plugins: [lateRequire],
  format: ['esm', 'cjs'],
  target: 'node20.18',
  platform: 'node',
  // workerd knows `node:crypto`, and not `crypto`.
  removeNodeProtocol: false,
  // zod is a development dependency, so tsup bundles it; undici and msw stay imports.
  external: ['undici', 'msw'],
  noExternal: ['zod'],
  // Rollup makes the CommonJS chunks then. tsup's other way, sucrase, breaks class constructors.
  treeshake: true,
  // The CommonJS build has __filename instead, and asks for it first.
  esbuildOptions: (options) => {
    options.logOverride = { 'empty-import-meta': 'silent' };
  },
};

const { 'callback/index': callback, 'callback/web/index': web, ...others } = entries;

export default defineConfig([
  {
    ...common,
    entry: others,
    splitting: true,
    onSuccess: async () => {
      // The schema as a file, for migrations that are plain SQL.
      cpSync('src/inbox/postgres/schema.sql', 'dist/inbox/postgres/schema.sql');
      cpSync('src/openapi/openapi.json', 'dist/openapi.json');
    },
    dts: { entry: entries, compilerOptions: { ignoreDeprecations: '6.0' } },
  },
  {
    ...common,
    // One file each: most of the time to load a verifier went into the number of files.
    entry: { 'callback/index': callback, 'callback/web/index': web },
    splitting: false,
  },
  {
    // The command line, which uses the package as any other user does: by its name.
    ...minified,
    entry: ['src/cli/main.ts'],
    outDir: 'dist/cli',
    format: ['esm'],
    target: 'node20.18',
    platform: 'node',
    removeNodeProtocol: false,
    external: [/^merchant-payments/],
    splitting: true,
  },
]);

function listClassNames(): string[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...readFileSync(path.join('src', file), 'utf8').matchAll(/\bclass (\w+)/g)])
    .map(([, name = '']) => name);
}
