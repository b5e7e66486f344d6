import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].concat(
  readdirSync('docs')
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join('docs', file)),
);
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

describe.each(pages)('%s', (page) => {
  const text = readFileSync(page, 'utf8');

  test('names only commands of the package that there are', () => {
    for (const [, name = ''] of text.matchAll(/npm run ([\w:-]+)/g)) {
      expect(Object.keys(scripts), `${page} says npm run ${name}`).toContain(name);
    }
  });

  test('names only files and folders of the repository that there are', () => {
    const named = text.matchAll(/`((?:src|test|scripts|bench|\.github|\.ci)(?:\/[\w.*/-]+)?)`/g);
    for (const [, file = ''] of named) {
      expect(existsSync(file), `${page} names ${file}`).toBe(true);
    }
  });
});

test('SECURITY.md names what proves each defence', () => {
  const rows = readFileSync('SECURITY.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.split(' | ').length === 5)
    .slice(2);
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows) expect(row).toMatch(/`(?:test\/|npm run |node )[^`]+`[^|]*\|$/);
});
