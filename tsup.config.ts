import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'callback/index': 'src/callback/index.ts',
    'callback/web/index': 'src/callback/web/index.ts',
    'mock-server/index': 'src/mock-server/index.ts',
    'msw/index': 'src/msw/index.ts',
    'testing/index': 'src/testing/index.ts',
  },
  format: ['esm', 'cjs'],
  target: 'node20.18',
  platform: 'node',
  splitting: true,
  clean: true,
  // zod is a development dependency, so tsup bundles it; undici and msw stay imports.
  external: ['undici', 'msw'],
  noExternal: ['zod'],
  dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
  // Rollup makes the CommonJS chunks then. tsup's other way, sucrase, breaks class constructors.
  treeshake: true,
});
