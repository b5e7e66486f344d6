import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readBlocks } from './snippets/blocks.js';

// Guides show these files of examples/. What runs each: test/examples and test/package.
const shown: Record<string, readonly string[]> = {
  'docs/order-from-checkout-to-paid.md': [
    'shop/schema.sql',
    'shop/database.ts',
    'shop/checkout.ts',
    'shop/callbacks.ts',
  ],
  'docs/move-an-existing-integration.md': [
    'move/migration.sql',
    'move/orders.ts',
    'move/moved-shop.ts',
    'move/way-back.ts',
  ],
  'docs/postgres.md': ['transactions/pg.ts'],
  'docs/mysql.md': ['transactions/mysql.ts', 'transactions/mysql-tables.sql'],
  'docs/orm.md': [
    'transactions/drizzle.ts',
    'transactions/kysely.ts',
    'transactions/knex.ts',
    'transactions/typeorm.ts',
    'transactions/prisma.ts',
    'transactions/postgres-js.ts',
  ],
  'docs/queues.md': [
    'queues/warehouse.ts',
    'queues/pg-boss.ts',
    'queues/bullmq.ts',
    'queues/gateway.ts',
  ],
  'docs/staff-page.md': ['shop/staff.ts'],
  'docs/work-with-the-mock.md': ['docker/Dockerfile'],
};

const ELISION = /^\/\/ …\n/m;

const blocksOf = (guide: string): string[] =>
  [...readFileSync(guide, 'utf8').matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code = '']) => code);

/** Whether a block is the file or, where it has elisions, parts of it in their order. */
function shows(block: string, file: string): boolean {
  const parts = block.split(ELISION);
  if (parts.length === 1) return block === file;
  let from = 0;
  return parts.every((part) => {
    const at = file.indexOf(part, from);
    from = at + part.length;
    return at >= 0;
  });
}

describe.each(Object.entries(shown))('%s', (guide, files) => {
  test.each(files)('shows %s as it is run', (file) => {
    const text = readFileSync(`examples/${file}`, 'utf8');
    expect(blocksOf(guide).filter((block) => shows(block, text))).toHaveLength(1);
  });
});

test('the first guide runs the application of the README', () => {
  const [app] = readBlocks('docs/start.md').filter(({ name }) => name === 'app.ts');
  expect(app).toBeDefined();
  expect(readBlocks('README.md')).toContainEqual(app);
});

test('nothing else has elisions', () => {
  const guides = readdirSync('docs').filter((file) => file.endsWith('.md'));
  for (const guide of guides.map((file) => `docs/${file}`)) {
    const files = (shown[guide] ?? []).map((file) => readFileSync(`examples/${file}`, 'utf8'));
    const elided = blocksOf(guide).filter((block) => ELISION.test(block));
    for (const block of elided) expect(files.some((file) => shows(block, file))).toBe(true);
  }
});
