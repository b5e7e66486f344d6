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
  const lines = formatTable(columns, [{ name: 'a', count: 1 }], {
    paint: (style, text) => `<${style}>${text}`,
    tableWidth: 40,
  });
  expect(lines).toEqual(['<bold>NAME  N', 'a     <red>1']);
});

describe('a table that is wider than the terminal', () => {
  const wide: readonly Column<string>[] = [
    { title: 'TIME', text: () => '2026-01-31T07:08:09.000Z', short: () => '07:08:09' },
    { title: 'EMPTY', text: () => '' },
    { title: 'ID', text: (id) => id },
    { title: 'N', text: () => '7', align: 'right' },
  ];
  const widthOf = (tableWidth: number) =>
    formatTable(wide, ['0123456789abcdef'], { ...asIs, tableWidth });

  test('has short times, and no empty columns', () => {
    expect(widthOf(31)).toEqual(['TIME      ID                N', '07:08:09  0123456789abcdef  7']);
  });

  test('has its widest cells cut', () => {
    expect(widthOf(24)).toEqual(['TIME      ID           N', '07:08:09  0123456789…  7']);
  });

  test('keeps eight characters of each', () => {
    expect(widthOf(21)[1]).toBe('07:08:09  0123456…  7');
  });

  test('is a list of its cells where that is too wide, however narrow the terminal is', () => {
    expect(widthOf(20)).toEqual(['TIME  07:08:09', 'ID    0123456789abcd', '      ef', 'N     7']);
    expect(Math.max(...widthOf(5).map((line) => line.length))).toBe(14);
  });

  test('has an empty line between the lists of two rows, and their styles', () => {
    const paint = (style: string, text: string) => `<${style}>${text}`;
    const six = ['A', 'B', 'C', 'D', 'E', 'F'].map(
      (title): Column<string> => ({
        title,
        text: (cell) => cell,
        style: () => 'red',
      }),
    );
    const lines = formatTable(six, ['123456789', '987654321'], { paint, tableWidth: 56 });
    expect(lines).toHaveLength(13);
    expect([lines[0], lines[5], lines[6], lines[7]]).toEqual([
      '<bold>A  <red>123456789',
      '<bold>F  <red>123456789',
      '',
      '<bold>A  <red>987654321',
    ]);
  });

  test('is left as it is where it fits', () => {
    expect(widthOf(54)[1]).toBe('2026-01-31T07:08:09.000Z  -      0123456789abcdef  7');
  });
});
