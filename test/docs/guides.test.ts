import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type FaultEntry,
  faultCatalogue,
  faultTargets,
  faultTypesOn,
} from '../../src/mock-server/faults/fault-catalogue.js';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const guides = readdirSync('docs').filter((file) => file.endsWith('.md'));
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'llms.txt',
  'scripts/docs/landing.md',
].concat(guides.map((file) => path.join('docs', file)));

describe.each(pages)('%s', (page) => {
  const text = readFileSync(page, 'utf8');

  test('links only to files and headings that exist', () => {
    const links = [...text.matchAll(/\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)/g)];
    for (const [, file = '', heading] of links) {
      const target = file === '' ? page : path.join(path.dirname(page), file);
      expect(existsSync(target), `${page} links to ${target}`).toBe(true);
      if (heading === undefined) continue;
      expect(headingsOf(target), `${page} links to ${target}#${heading}`).toContain(heading);
    }
  });

  // Not fetched: the tests need no network.
  test('links to the outside over https only', () => {
    for (const [, link = ''] of text.matchAll(/\]\((\w+:[^)]*)\)/g)) {
      expect(new URL(link).protocol, `${page} links to ${link}`).toBe('https:');
    }
  });

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

test.each(guides)('%s has at most 250 lines', (file) => {
  expect(readFileSync(`docs/${file}`, 'utf8').split('\n').length - 1).toBeLessThanOrEqual(250);
});

function headingsOf(file: string): string[] {
  const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)];
  return headings.map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

test('the page of options is that of the docstrings: node scripts/docs/options.mjs writes it', async () => {
  const { optionsPage } = (await import(path.resolve('scripts/docs/options.mjs'))) as {
    optionsPage(): string;
  };
  expect(readFileSync('docs/options.md', 'utf8')).toBe(optionsPage());
});

describe('the page of faults lists the catalogue', () => {
  test.each(faultTargets)('on: %s', (target) => {
    const rows = faultTypesOn(target).map((type) => {
      const { text, parameters = {}, ...entry }: FaultEntry = faultCatalogue[type];
      const names = Object.keys(parameters).map((name) => `\`${name}\``);
      const fault = `\`${type}\`${names.length === 0 ? '' : ` (${names.join(', ')})`}`;
      const last = entry.on === 'callback' ? entry.expects : entry.creates ? 'yes' : 'no';
      return `| ${fault} | ${text} | ${last} |\n`;
    });
    expect(readFileSync('docs/faults.md', 'utf8')).toContain(rows.join(''));
  });
});
