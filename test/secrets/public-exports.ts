import { readFileSync } from 'node:fs';

/** Something that the package exports. */
export interface PublicExport {
  /** The first subpath that has it, and its name there: `./callback verifyCallback`. */
  readonly id: string;
  readonly value: unknown;
}

/** All that package.json's exports lead to. What several subpaths have comes once. */
export async function publicExports(): Promise<PublicExport[]> {
  const found = new Map<unknown, PublicExport>();
  for (const { subpath, source } of publicModules()) {
    const exported: Record<string, unknown> = await import(source);
    for (const [name, value] of Object.entries(exported)) {
      if (!found.has(value)) found.set(value, { id: `${subpath} ${name}`, value });
    }
  }
  return [...found.values()];
}

function publicModules(): { subpath: string; source: string }[] {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Record<string, string | { import: { default: string } }>;
  };
  return Object.entries(exports).flatMap(([subpath, target]) => {
    // A file as it is, such as the schema: nothing of a running program.
    if (typeof target === 'string') return [];
    // Named as tests name it: where they are run on the published files, these are them, too.
    return [{ subpath, source: target.import.default.replace(/^\.\/dist\//, '../../src/') }];
  });
}
