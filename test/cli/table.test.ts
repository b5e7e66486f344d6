import { describe, expect, test } from 'vitest';
import { type Column, formatTable } from '../../src/cli/layout.js';

interface Row {
  readonly name: string;
  readonly count: number;
}

const columns: readonly Column<Row>[] = [
  { title: 'NAME', text: ({ name }) => name },
  { title: 'N', text: ({ count }) => String(count), align: 'right', style: () => 'red' },
];
const asIs = { paint: (_style: string, text: string) => text, tableWidth: Infinity };

test('columns are as wide as their widest cell', () => {
  expect(
    formatTable(
      columns,
      [
        { name: 'a', count: 1 },
        { name: 'longer', count: 1000 },
      ],
      asIs,
    ),
  ).toEqual(['NAME       N', 'a          1', 'longer  1000']);
});

test('an empty cell shows a dash, and an empty column is left out', () => {
  const rows = [{ name: '', count: 1 }];
  expect(formatTable(columns, [...rows, { name: 'a', count: 2 }], asIs)[1]).toBe('-     1');
  expect(formatTable(columns, rows, asIs)).toEqual(['N', '1']);
});

test('control characters in a cell are escaped before it is measured', () => {
  expect(
    formatTable(
      columns,
      [
        { name: '\u001b', count: 1 },
        { name: '👍', count: 22 },
      ],
      asIs,
    ),
  ).toEqual(['NAME   N', '\\x1b   1', '👍     22']);
});

describe('a table that is wider than the terminal', () => {
  const wide: readonly Column<string>[] = [
    { title: 'ID', text: (id) => id },
    { title: 'EMPTY', text: () => '' },
    { title: 'NAME', text: () => 'a name', style: () => 'red' },
  ];
  const paint = (style: string, text: string) => `<${style}>${text}`;

  test('is left as it is where it fits', () => {
    const fitting = formatTable(wide, ['0123456789abcdef'], { ...asIs, tableWidth: 24 });
    expect(fitting).toEqual(['ID                NAME', '0123456789abcdef  a name']);
  });

  test('is a list of its cells, none of them cut, however narrow the terminal is', () => {
    const list = ['ID    0123456789abcdef', 'NAME  a name'];
    for (const tableWidth of [23, 5]) {
      const lines = formatTable(wide, ['0123456789abcdef', 'x'], { ...asIs, tableWidth });
      expect(lines).toEqual([...list, '', 'ID    x', 'NAME  a name']);
    }
    expect(formatTable(wide, ['a'.repeat(9)], { paint, tableWidth: 9 })).toEqual([
      '<bold>ID    aaaaaaaaa',
      '<bold>NAME  <red>a name',
    ]);
  });
});
