import path from 'node:path';
import { expect, test } from 'vitest';

type Read = (file: string) => string;
const { findMissingLinks, findUnlinked } = (await import(
  path.resolve('scripts/packed-links.mjs')
)) as {
  findMissingLinks(files: readonly string[], read: Read): string[];
  findUnlinked(extension: string, files: readonly string[], read: Read): string[];
};

const texts: Record<string, string> = {
  'README.md': '[guide](docs/guide.md#part), [house](CONTRIBUTING.md) <!-- ![x](hidden.png) -->',
  'docs/guide.md':
    '[here](#part) ![a](images/a.svg) [up](../README.md) [out](https://example.com/a.md) `[0](call)`\n' +
    '```ts\nrun[0](argument)\n```\n![shot](images/shot.png)',
  'llms.txt': '- [gone](docs/gone.md): a guide',
  'docs/images/a.svg': '',
  'docs/images/b.svg': '',
};
const files = Object.keys(texts);
const read: Read = (file) => texts[file] ?? '';

test('names each relative link of a packed text to what is not packed', () => {
  expect(findMissingLinks(files, read)).toEqual([
    'README.md: CONTRIBUTING.md',
    'docs/guide.md: images/shot.png',
    'llms.txt: docs/gone.md',
  ]);
});

test('names each packed picture that no packed text shows', () => {
  expect(findUnlinked('.svg', files, read)).toEqual(['docs/images/b.svg']);
});
