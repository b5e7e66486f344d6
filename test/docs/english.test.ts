import path from 'node:path';
import { describe, expect, test } from 'vitest';

interface Fault {
  readonly line: number;
  readonly fault: string;
}
const { findInCode, findInMarkdown } = (await import(path.resolve('scripts/english.mjs'))) as {
  findInCode: (text: string) => Fault[];
  findInMarkdown: (text: string) => Fault[];
};

/** As many words as there are, in one sentence. */
const sentence = (words: number) => `${Array(words).fill('word').join(' ')}.`;

describe('in a page, the check of English finds', () => {
  test.each([
    ['a word on the list', 'It may exist, and nobody knows.', '"nobody"'],
    ['the same in a table', '| state | mend the cause |', '"mend"'],
    ['the same in a heading', '## Whoever may write', '"Whoever"'],
    ['two words on the list', 'The order is told.', '"is told"'],
    ['two colons in a paragraph', 'Look at this: a fault.\nAnd at that: another.', '2 colons'],
    ['two colons in an item', '- one: a\n  and: b', '2 colons'],
    ['a sentence of 36 words', sentence(36), 'a sentence of 36 words'],
    ['a sentence that goes on in the next line', sentence(36).replace(' ', '\n'), 'of 36 words'],
  ])('%s', (_name, page, fault) => {
    expect(findInMarkdown(page)).toEqual([
      { line: 1, fault: expect.stringContaining(fault) as string },
    ]);
  });

  test('the line of each', () => {
    const page = '---\ntitle: nobody\n---\n\n# Title\n\nFirst.\n\n- a\n- it came\n';
    expect(findInMarkdown(page).map(({ line }) => line)).toEqual([10]);
  });
});

describe('in a page, it does not find', () => {
  test.each([
    ['a sentence of 35 words', sentence(35)],
    ['two sentences of 35 words', `${sentence(35)} ${sentence(35)}`],
    ['a colon in each item', 'Items:\n\n- one: a\n- two: b'],
    ['a colon in each cell', '| one: a | two: b |'],
    ['a name that the item defines', '- `a`: a list: one, two.'],
    ['what code says', '```ts\n// nobody: a: b\n```\n\n`nobody` came'.replace(' came', '')],
    ['addresses', 'See https://nobody.example/came: it is there.'],
    ['a part of a word', 'It became a recommendation, and mending.'],
  ])('%s', (_name, page) => {
    expect(findInMarkdown(page)).toEqual([]);
  });
});

describe('in code, it finds', () => {
  test.each([
    ['a word in a comment', 'call();\n// nobody knows\n', [2]],
    [
      'a word in the second line of a comment',
      '/**\n * It is there.\n *\n * It came late.\n */',
      [4],
    ],
    ['two colons in lines that belong together', '// one: a\n// two: b\n', [1]],
    ['a word in a text', "const text = 'nobody';\n", [1]],
    ['a word in a template', `const text = \`it came \${then} late\`;\n`, [1]],
    ['a long sentence', `/** ${sentence(36)} */`, [1]],
  ])('%s', (_name, code, lines) => {
    expect(findInCode(code).map(({ line }) => line)).toEqual(lines);
  });
});

describe('in code, it does not find', () => {
  test.each([
    ['names', 'const nobody = came.whoever;'],
    ['colons and lengths in texts', `const text = 'a: b: c ${sentence(40)}';`],
    [
      'slashes in texts and expressions',
      "const text = 'https://nowhere'; const pattern = /\\/\\/: a: b/;",
    ],
    ['examples', '/**\n * @example\n * ```ts\n * came(); // a: b: c\n * ```\n */'],
    ['names that are defined', '/** `new`: the body is signed. `kept`: it is not. */'],
    ['defaults', "/** @default { a: 'b', c: 'd' } */"],
  ])('%s', (_name, code) => {
    expect(findInCode(code)).toEqual([]);
  });
});
