import path from 'node:path';
import { describe, expect, test } from 'vitest';

const { editUrl } = (await import(path.resolve('scripts/docs/page.mjs'))) as {
  editUrl: (
    file: string,
    from: { given?: string; repository?: { url: string } },
  ) => string | undefined;
};

describe('the address at which a guide is edited', () => {
  test('is below the one given, or the repository on GitHub; without either there is none', () => {
    const given = 'https://git.example.com/shop/edit/main/';
    expect(editUrl('docs/a.md', { given })).toBe(
      'https://git.example.com/shop/edit/main/docs/a.md',
    );
    const repository = { url: 'git+https://github.com/owner/name.git' };
    expect(editUrl('docs/a.md', { repository })).toBe(
      'https://github.com/owner/name/edit/HEAD/docs/a.md',
    );
    expect(editUrl('docs/a.md', {})).toBeUndefined();
  });

  test('is never another than an https one', () => {
    for (const given of ['main', 'http://git.example.com/edit']) {
      expect(() => editUrl('docs/a.md', { given })).toThrow(
        'DOCS_EDIT_URL must be the https address',
      );
    }
  });
});
