import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readBlocks } from '../docs/snippets/blocks.js';
import { findFreePort } from '../services/throwaway-server.js';

// What a newcomer gets: the tarball, installed in an empty folder.

/** '' for the package itself, '/callback' … */
const SUBPATHS = Object.entries<unknown>(JSON.parse(readFileSync('package.json', 'utf8')).exports)
  .filter(([, target]) => typeof target !== 'string')
  .map(([subpath]) => subpath.slice(1));

const root = mkdtempSync(path.join(tmpdir(), 'merchant-payments-'));
const bare = path.join(root, 'bare');
const full = path.join(root, 'full');
const older = path.join(root, 'older');

beforeAll(() => {
  const tarball = process.env['PACKED_TARBALL'] ?? '';
  install(bare, tarball);
  install(full, tarball, 'msw@3', '@opentelemetry/api@1', 'zod@4', '@types/node@20');
  install(older, tarball, 'msw@2', '@types/node@20');
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

function install(folder: string, ...packages: string[]): void {
  mkdirSync(folder);
  write(folder, 'package.json', JSON.stringify({ private: true, type: 'module' }));
  run(folder, 'npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages);
}

function write(folder: string, file: string, text: string): void {
  writeFileSync(path.join(folder, file), text);
}

function run(cwd: string, command: string, ...args: string[]): string {
  try {
    return execFileSync(command, args, {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`);
  }
}

function runModule(folder: string, file: string, code: string): string {
  write(folder, file, code);
  return run(folder, process.execPath, file);
}

describe('the installed package', () => {
  test('brings undici along and nothing else', () => {
    const packages = readdirSync(path.join(bare, 'node_modules')).filter((name) => name[0] !== '.');
    expect(packages).toEqual(['merchant-payments', 'undici']);
  });

  test.for(SUBPATHS)('imports and requires the same names: merchant-payments%s', (subpath, it) => {
    const name = `merchant-payments${subpath}`;
    const names = (file: string, code: string) => JSON.parse(runModule(full, file, code));
    const imported = names(
      'names.mjs',
      `import * as all from '${name}'; console.log(JSON.stringify(Object.keys(all).sort()));`,
    );
    expect(imported.length).toBeGreaterThan(0);
    const isRequired = subpath !== '/msw' || Reflect.get(process.features, 'require_module');
    it.skip(!isRequired, 'this Node requires no ES modules, as msw, or what it requires, is one');
    const required = names(
      'names.cjs',
      `console.log(JSON.stringify(Object.keys(require('${name}')).sort()));`,
    );
    expect(required).toEqual(imported);
  });

  // Each prints what is wrong with a record, a creation and a fault.
  const refusals = `
    import { PaymentClient } from 'merchant-payments';
    import { verifyCallback } from 'merchant-payments/callback';
    import { createMockService } from 'merchant-payments/mock-server';
    import { signCallback } from 'merchant-payments/testing';
    const signingSecret = 'a-secret-of-the-service';
    const client = new PaymentClient({ baseUrl: 'http://localhost', apiKey: 'k', apiSecret: 's' });
    const shown = [
      () => verifyCallback(signCallback({ payment: '{"status":5}', signingSecret }), { signingSecret }),
      () => client.payments.create({}),
      () => createMockService().faults.add({ on: 'request', type: 'delay', delayMs: 'planted' }),
    ].map((run) => Promise.resolve().then(run).catch(({ message }) => message));
    console.log((await Promise.all(shown)).join('\\n'));
  `;

  test('generates no code, which a policy may forbid', () => {
    write(bare, 'refusals.mjs', refusals);
    const shown = run(
      bare,
      process.execPath,
      '--disallow-code-generation-from-strings',
      'refusals.mjs',
    );
    expect(shown).toMatch(/status must be .*\n.*currency is missing.*\n.*delayMs must be /);
  });

  test("neither obeys nor changes the settings of the user's zod", () => {
    const before = runModule(full, 'refusals.mjs', refusals);
    const shown = runModule(
      full,
      'beside-zod.mjs',
      `import * as z from 'zod';
      const told = [];
      const settings = {
        customError: () => 'foreign',
        localeError: () => 'foreign',
        postProcessor: (schema) => void told.push(schema),
      };
      z.config(settings);
      await import('./refusals.mjs');
      const kept = Object.entries(settings).every(([name, value]) => z.config()[name] === value);
      console.log(kept, told.length, z.config().jitless);`,
    );
    expect(shown).toBe(`${before}true 0 undefined\n`);
    const first = `import { callbackKey } from 'merchant-payments/callback';
      import * as z from 'zod/mini';
      console.log(typeof callbackKey, JSON.stringify(z.config()));`;
    expect(runModule(full, 'before-zod.mjs', first)).toBe('function {}\n');
  });

  test.each(['/mock-server', '/testing'])(
    'is one implementation for import and require, as only development uses it: merchant-payments%s',
    (subpath) => {
      const code = `
        import { createRequire } from 'node:module';
        import * as imported from 'merchant-payments${subpath}';
        const required = createRequire(import.meta.url)('merchant-payments${subpath}');
        console.log(Object.keys(imported).filter((name) => imported[name] !== required[name]));
      `;
      expect(runModule(bare, 'one.mjs', code)).toBe('[]\n');
    },
  );

  test('loads without msw and OpenTelemetry, as long as their subpaths are not used', () => {
    const ofPeers = ['/msw', '/opentelemetry'];
    const imports = SUBPATHS.filter((subpath) => !ofPeers.includes(subpath)).map(
      (subpath) => `await import('merchant-payments${subpath}');`,
    );
    expect(runModule(bare, 'all.mjs', `${imports.join('\n')}\nconsole.log('loaded')`)).toBe(
      'loaded\n',
    );
  });

  test('loads none of the large modules of Node on import', () => {
    const code = (subpath: string) => `
      const atStart = new Set(process.moduleLoadList);
      await import('${subpath}');
      const loaded = process.moduleLoadList.filter((name) => !atStart.has(name));
      const large = /^NativeModule (crypto|dns|http|http2|https|net|stream|tls|url|worker_threads|zlib)$/;
      console.log(JSON.stringify(loaded.filter((name) => large.test(name))));`;
    for (const subpath of ['merchant-payments', 'merchant-payments/callback']) {
      expect(runModule(bare, 'imported.mjs', code(subpath)), subpath).toBe('[]\n');
    }
    expect(runModule(bare, 'undici.mjs', code('undici'))).toContain('NativeModule http');
  });

  test('links its command line, which starts without undici and tells its version', () => {
    const bin = path.join(bare, 'node_modules/.bin/merchant-payments');
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(run(bare, bin, '--version')).toBe(`${version}\n`);
    expect(run(bare, bin, '--help')).toContain('Usage: merchant-payments <command>');
  });

  test('knows its errors by instanceof across the two builds', () => {
    const code = `
      import { createRequire } from 'node:module';
      import * as imported from 'merchant-payments';
      const required = createRequire(import.meta.url)('merchant-payments');
      for (const [{ verifyCallback }, other] of [[imported, required], [required, imported]]) {
        try {
          verifyCallback({ rawBody: '', headers: {} }, { signingSecret: 'secret' });
        } catch (error) {
          const { ApiError, CallbackVerificationError } = other;
          console.log(error instanceof CallbackVerificationError, error instanceof ApiError);
        }
      }
    `;
    expect(runModule(bare, 'instanceof.mjs', code)).toBe('true false\n'.repeat(2));
  });

  test('does what the README shows, pasted into an empty folder', async () => {
    const folder = path.join(root, 'readme');
    install(folder, process.env['PACKED_TARBALL'] ?? '', 'express@5');
    const port = String(await findFreePort());
    const programs = readBlocks('README.md').filter(({ language }) => /^[jt]s$/.test(language));
    const outputs = programs.map(({ name, code }, index) => {
      const { outputText } = ts.transpileModule(code.replaceAll('3000', port), {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
      });
      const file = name?.replace(/ts$/, 'js') ?? `readme-${index}.js`;
      write(folder, file, outputText);
      // The application listens until its test ends it.
      return file === 'app.js' ? undefined : run(folder, process.execPath, file);
    });
    expect(outputs).toEqual(['order-1 is paid\n', undefined, '']);
  });
});
