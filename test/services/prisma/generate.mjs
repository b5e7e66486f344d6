// Writes the clients of schema.prisma and mysql/schema.prisma, as `prisma generate` does. The generator alone is a third of
// the size of Prisma's command line, and downloads no engines.

import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const { PrismaClientTsGenerator } = require('@prisma/client-generator-ts');
const { getGenerators, loadSchemaContext } = require('@prisma/internals');

const generator = new PrismaClientTsGenerator();
const registry = { 'prisma-client': { type: 'in-process', generator } };
for (const folder of ['.', 'mysql']) {
  const cliProvidedPath = path.join(import.meta.dirname, folder, 'schema.prisma');
  const schemaContext = await loadSchemaContext({ schemaPath: { cliProvidedPath } });
  for (const made of await getGenerators({ schemaContext, registry })) {
    await made.generate();
    made.stop();
  }
}
