import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const guide = readFileSync('docs/your-own-transaction.md', 'utf8');
const samples = [...guide.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);
const files = ['pg', 'drizzle', 'kysely', 'knex', 'typeorm'];

// The services tests run these files on a server.
test.each(files)('the guide shows examples/transactions/%s.ts as it is run', (file) => {
  expect(samples).toContain(readFileSync(`examples/transactions/${file}.ts`, 'utf8'));
});

test('the guide has no sample that is not run', () => {
  expect(samples).toHaveLength(files.length);
});
