import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as api from '../../src/index.js';
import { MockServerError } from '../../src/mock-server/index.js';

const guide = readFileSync('docs/errors.md', 'utf8');
const rows = [...guide.matchAll(/^\| `([A-Z_]+)` \| ((?:`\w+`(?:, )?)+) \|/gm)].map(
  ([, code, classes = '']) => ({ code, classes: classes.replaceAll('`', '').split(', ') }),
);

test('docs/errors.md lists exactly the exported codes, in their order', () => {
  expect(rows.map(({ code }) => code)).toEqual(api.errorCodes);
});

test('docs/errors.md names exactly the exported error classes', () => {
  const exported = Object.keys({ ...api, MockServerError }).filter(
    (name) => name.endsWith('Error') && !['MerchantPaymentsError', 'RequestError'].includes(name),
  );
  expect(new Set(rows.flatMap(({ classes }) => classes))).toEqual(new Set(exported));
});
