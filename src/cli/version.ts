import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The version of the package, as its package.json has it. */
export function readVersion(): string {
  const file = createRequire(import.meta.url).resolve('merchant-payments/package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
