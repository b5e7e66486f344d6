import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const filesOf = (folder: string) => readdirSync(folder).map((file) => `${folder}/${file}`);

// All that the shop needs. Besides these, the example has styles and a page for staff.
const shop = [
  'schema.sql',
  'database.ts',
  'checkout.ts',
  'callbacks.ts',
  'events.ts',
  'public/page.html',
  'public/page.js',
  'lists.ts',
  'print-lists.ts',
  'main.ts',
];

// What runs each file: test/examples, test/inbox/postgres/orms, test/openapi and test/package.
const shown: readonly [guide: string, files: readonly string[], hasOthers?: 'and others'][] = [
  ['docs/order-from-checkout-to-paid.md', shop.map((file) => `examples/shop/${file}`)],
  ['docs/queues.md', filesOf('examples/queues')],
  ['docs/your-own-transaction.md', filesOf('examples/transactions')],
  ['docs/openapi.md', filesOf('examples/openapi'), 'and others'],
  [
    'docs/test-your-integration.md',
    [...filesOf('examples/docker'), ...filesOf('examples/playwright')],
    'and others',
  ],
];

const blocksOf = (guide: string, languages: string) =>
  [
    ...readFileSync(guide, 'utf8').matchAll(
      new RegExp(`^\`\`\`(?:${languages})\n(.*?)^\`\`\`$`, 'gms'),
    ),
  ].map(([, code]) => code);

describe.each(shown)('%s', (guide, files) => {
  test.each(files)('shows %s as it is run', (file) => {
    expect(blocksOf(guide, '\\w+')).toContain(readFileSync(file, 'utf8'));
  });
});

const shownWhole = shown.filter(([, , hasOthers]) => hasOthers === undefined);
test.each(shownWhole)('%s shows no other code', (guide, files) => {
  expect(blocksOf(guide, 'ts|sql|html|js')).toHaveLength(files.length);
});
