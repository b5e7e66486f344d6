import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build, type Plugin } from 'esbuild';

/** The package as users get it: packed, and installed in a separate folder. */
export interface InstalledPackage {
  /** The folder with node_modules, where the starters are put. */
  readonly folder: string;
  /** What is published, below node_modules. */
  readonly root: string;
  /** Bundles a file of the project into the folder; the package stays an import. */
  bundle(source: string): Promise<string>;
  /** Bundles it with the package inside, as for a Worker. */
  bundleForWorkers(source: string): Promise<string>;
  remove(): void;
}

export function installPackage(): InstalledPackage {
  const folder = mkdtempSync(path.join(tmpdir(), 'merchant-payments-runtimes-'));
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const [packed] = JSON.parse(
    npm(process.cwd(), 'pack', '--json', '--ignore-scripts', '--pack-destination', folder),
  );
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const tarball = path.join(folder, packed.filename);
  npm(folder, 'install', '--no-audit', '--no-fund', '--ignore-scripts', tarball);
  // The peer dependencies: the same copies that the tests import.
  mkdirSync(path.join(folder, 'node_modules/@opentelemetry'));
  for (const peer of ['msw', '@opentelemetry/api']) {
    symlinkSync(path.resolve('node_modules', peer), path.join(folder, 'node_modules', peer));
  }
  // What `npm install undici` gives users, who may pass a dispatcher of it.
  symlinkSync(
    path.resolve('test/runtimes/binaries/node_modules/undici-8'),
    path.join(folder, 'node_modules/undici-8'),
  );

  const bundle = async (source: string, options: object): Promise<string> => {
    const outfile = path.join(folder, `${path.basename(source, '.ts')}.mjs`);
    await build({
      entryPoints: [source],
      bundle: true,
      format: 'esm',
      target: 'es2022',
      outfile,
      logLevel: 'warning',
      // The project's own has paths, by which the package's name would mean its sources.
      tsconfigRaw: {},
      ...options,
    });
    return outfile;
  };
  return {
    folder,
    root: path.join(folder, 'node_modules/merchant-payments'),
    bundle: (source) => bundle(source, { platform: 'node', packages: 'external' }),
    bundleForWorkers: (source) =>
      bundle(source, {
        conditions: ['workerd', 'worker'],
        mainFields: ['module', 'main'],
        external: ['node:*', ...builtinModules],
        plugins: [resolveInstalled(folder)],
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

// The starters lie in the project, where the package's name means its build and not the tarball.
function resolveInstalled(resolveDir: string): Plugin {
  return {
    name: 'installed-package',
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^merchant-payments/ }, ({ path: name, kind, pluginData }) =>
        pluginData === 'resolving'
          ? undefined
          : resolve(name, { resolveDir, kind, pluginData: 'resolving' }),
      );
    },
  };
}
