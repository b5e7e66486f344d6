import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const text = readFileSync('llms.txt', 'utf8');
const { exports: entries, files } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Record<string, unknown>;
  files: readonly string[];
};
const {
  default: { projectDocuments },
} = (await import(path.resolve('typedoc.config.mjs'))) as {
  default: { projectDocuments: string[] };
};

/** Names of what can be imported, but for the package's own description. */
const subpaths = Object.keys(entries)
  .filter((entry) => entry !== './package.json')
  .map((entry) => entry.replace('.', 'merchant-payments'));

/** The list below one of its headings. */
function itemsOf(heading: string): { name: string; file: string; description: string }[] {
  const [, list = ''] = text.split(`\n## ${heading}\n\n`);
  return (list.split('\n\n', 1)[0] ?? '')
    .trim()
    .split('\n')
    .map((line) => {
      const item = /^- \[([^\]]+)\]\(([^)#]+)(?:#[^)]+)?\): (\S.*)$/.exec(line);
      if (item === null) return expect.fail(`not a link with a description: ${line}`);
      const [, name = '', file = '', description = ''] = item;
      return { name, file, description };
    });
}

describe('llms.txt', () => {
  test('lists every guide that the package holds by its title, in the order of the site', () => {
    const guides = projectDocuments.filter(
      (file) => file.startsWith('docs/') && !files.includes(`!${file}`),
    );
    expect(itemsOf('Guides').map(({ file }) => file)).toEqual(guides);
    for (const { name, file } of itemsOf('Guides')) {
      expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^# ${name}\n`));
    }
  });

  test('names everything that can be imported', () => {
    for (const subpath of subpaths) expect(text).toMatch(new RegExp(`[[\`]${subpath}[\\]\`]`));
  });
});

test('the site has every guide', () => {
  const guides = readdirSync('docs').filter((file) => file.endsWith('.md'));
  for (const guide of guides) expect(projectDocuments).toContain(`docs/${guide}`);
});
