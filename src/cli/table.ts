import type { Paint, Style } from './colors.js';
import { plainText } from './plain-text.js';

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  /** The text of a cell. Control characters in it are escaped. */
  readonly text: (row: Row) => string;
  readonly align?: 'left' | 'right';
  /** The style of a cell. */
  readonly style?: (row: Row) => Style | undefined;
}

/** A table in columns of equal width, its titles in the first line. A cell without text shows a dash. */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  paint: Paint,
): string[] {
  const laidOut = columns.map((column) => {
    const cells = rows.map((row) => plainText(column.text(row)) || '-');
    const width = Math.max(...[column.title, ...cells].map(lengthOf));
    return { ...column, cells, width };
  });
  const head = laidOut.map(({ title, width, align }) => pad(title, width, align));
  const body = rows.map((row, index) =>
    laidOut.map(({ cells, width, align, style }) => {
      const text = pad(cells[index] as string, width, align);
      const wanted = style?.(row);
      return wanted === undefined ? text : paint(wanted, text);
    }),
  );
  return [
    paint('bold', head.join('  ').trimEnd()),
    ...body.map((cells) => cells.join('  ').trimEnd()),
  ];
}

// Characters, not UTF-16 units.
const lengthOf = (text: string): number => [...text].length;

function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(width - lengthOf(text));
  return align === 'left' ? `${text}${space}` : `${space}${text}`;
}
