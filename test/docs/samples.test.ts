import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const filesOf = (folder: string) => readdirSync(folder).map((file) => `${folder}/${file}`);

const shop = ['schema.sql', 'database.ts', 'checkout.ts', 'callbacks.ts', 'events.ts', 'main.ts'];

// What runs each file: test/examples and test/inbox/postgres/orms.
describe.each([
  ['docs/order-from-checkout-to-paid.md', shop.map((file) => `examples/shop/${file}`)],
  ['docs/queues.md', filesOf('examples/queues')],
  ['docs/your-own-transaction.md', filesOf('examples/transactions')],
])('%s', (guide, files) => {
  test.each(files)('shows %s as it is run', (file) => {
    const blocks = readFileSync(guide, 'utf8').matchAll(/^```(?:ts|sql)\n(.*?)^```$/gms);
    expect([...blocks].map(([, code]) => code)).toContain(readFileSync(file, 'utf8'));
  });

  test('shows no other code', () => {
    const blocks = readFileSync(guide, 'utf8').matchAll(/^```(?:ts|sql)\n/gm);
    expect([...blocks]).toHaveLength(files.length);
  });
});
