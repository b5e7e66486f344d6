import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
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
  test('has the form of llmstxt.org: a title, a summary, text, lists of links', () => {
    expect(text).toMatch(/^# merchant-payments\n\n> \S.*\n\n/);
    const headings = [...text.matchAll(/^#+ .*$/gm)].map(([line]) => line);
    expect(headings).toEqual(['# merchant-payments', '## Guides', '## Imports', '## Optional']);
    for (const heading of ['Guides', 'Imports', 'Optional']) {
      expect(itemsOf(heading).length).toBeGreaterThan(0);
    }
  });

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

  test('lists nothing that can not be imported', () => {
    for (const { name } of itemsOf('Imports')) expect(subpaths).toContain(name);
  });
});

test('the site has every guide', () => {
  const guides = readdirSync('docs').filter((file) => file.endsWith('.md'));
  for (const guide of guides) expect(projectDocuments).toContain(`docs/${guide}`);
});

test('a guide in the list that has been renamed or merged is named', async () => {
  const list = pathToFileURL(path.resolve('scripts/docs/guides.mjs')).href;
  const run = promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', `import ${JSON.stringify(list)}`],
    { cwd: 'scripts' },
  );
  await expect(run).rejects.toThrow(
    'scripts/docs/guides.mjs lists docs/start.md, which does not exist. Renamed or merged?',
  );
});
