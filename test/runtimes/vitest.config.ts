import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const root = process.cwd();
const installed = process.env['INSTALLED_PACKAGE'];
if (installed === undefined) throw new Error('INSTALLED_PACKAGE must name the installed package');
const { exports } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'));

/** The published file of a subpath: './callback' or '.'. */
function publishedFile(subpath: string): string | undefined {
  const file = exports[subpath]?.import?.default;
  return file === undefined ? undefined : path.join(installed as string, file);
}

/**
 * What tests import of a public entry, by its source's index or by the package's name, is the
 * published file. Private modules stay source: the package does not publish them.
 */
function publishedEntries(): Plugin {
  return {
    name: 'published-entries',
    enforce: 'pre',
    resolveId(source, importer) {
      if (source === 'merchant-payments' || source.startsWith('merchant-payments/')) {
        return publishedFile(`.${source.slice('merchant-payments'.length)}`);
      }
      if (importer === undefined || !/\/index\.[jt]s$/.test(source)) return;
      const folder = path.resolve(path.dirname(importer.split('?')[0] ?? ''), path.dirname(source));
      const subpath = path.relative(path.join(root, 'src'), folder);
      if (subpath.startsWith('..')) return undefined;
      return publishedFile(subpath === '' ? '.' : `./${subpath}`);
    },
  };
}

// As the project's own configuration, which can't be read here: vite of another version reads this.
export default defineConfig({
  plugins: [publishedEntries()],
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/package/**',
      '**/*.services.test.ts',
      '**/*.browser.test.ts',
      '**/*.guide.test.ts',
      '**/node_modules/**',
    ],
    globalSetup: ['test/global-setup.ts'],
    // A guard against hanging, not a measure: several versions of Node take their turn on one machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
