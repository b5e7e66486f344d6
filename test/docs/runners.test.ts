import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('the settings for Jest in the testing guide are those that are run', () => {
  const guide = readFileSync('docs/imports-and-versions.md', 'utf8');
  const blocks = [...guide.matchAll(/```json\n([^`]*)```/g)].map(([, json = '']) =>
    JSON.parse(json),
  );
  const settings = JSON.parse(readFileSync('test/consumers/runners/jest.cjs.json', 'utf8'));
  expect(blocks).toContainEqual(settings);
});
