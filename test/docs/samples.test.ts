import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

// What runs each folder: test/examples and test/inbox/postgres/orms.
describe.each([
  ['docs/order-from-checkout-to-paid.md', 'examples/order'],
  ['docs/queues.md', 'examples/queues'],
  ['docs/your-own-transaction.md', 'examples/transactions'],
])('%s', (guide, folder) => {
  test(`shows every file of ${folder} as it is run, and no other code`, () => {
    const blocks = readFileSync(guide, 'utf8').matchAll(/^```(?:ts|sql)\n(.*?)^```$/gms);
    const files = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'));
    expect([...blocks].map(([, code]) => code).sort()).toEqual(files.sort());
  });
});
