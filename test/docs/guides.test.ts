import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type {
  CallbackFaultType,
  RequestFaultType,
} from '../../src/mock-server/faults/fault-types.js';

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'llms.txt'].concat(
  readdirSync('docs')
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join('docs', file)),
);

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

test('the testing guide names every fault', () => {
  const guide = readFileSync('docs/test-your-integration.md', 'utf8');
  const faults: Record<RequestFaultType | CallbackFaultType, true> = {
    delay: true,
    unauthorized: true,
    'rate-limit': true,
    'server-error': true,
    'html-error': true,
    'malformed-json': true,
    'truncated-body': true,
    'empty-body': true,
    'reset-before-headers': true,
    'reset-in-body': true,
    hang: true,
    'lost-answer': true,
    duplicate: true,
    reorder: true,
    drop: true,
    'stale-timestamp': true,
    'future-timestamp': true,
    'tampered-body': true,
    'wrong-secret': true,
    'missing-header': true,
    'reserialized-body': true,
    'unknown-status': true,
    'extra-field': true,
  };
  for (const fault of Object.keys(faults)) expect(guide).toContain(`\`${fault}\``);
});
