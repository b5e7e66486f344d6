import { expect, test } from 'vitest';
import { type Column, formatTable } from '../../src/cli/layout.js';

interface Row {
  readonly name: string;
  readonly count: number;
}

const columns: readonly Column<Row>[] = [
  { title: 'NAME', text: ({ name }) => name },
  { title: 'N', text: ({ count }) => String(count), align: 'right', style: () => 'red' },
];
const asIs = (_style: string, text: string) => text;

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

test('a title can be the widest, and a line has no spaces at its end', () => {
  const [head, row] = formatTable([columns[0] as Column<Row>], [{ name: 'a', count: 1 }], asIs);
  expect(head).toBe('NAME');
  expect(row).toBe('a');
});

test('a cell without text shows a dash', () => {
  expect(formatTable(columns, [{ name: '', count: 1 }], asIs)[1]).toBe('-     1');
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

test('styles do not change the width', () => {
  const lines = formatTable(
    columns,
    [{ name: 'a', count: 1 }],
    (style, text) => `<${style}>${text}`,
  );
  expect(lines).toEqual(['<bold>NAME  N', 'a     <red>1']);
});
