import { createPaint, type Paint, plainText, type Style } from './output.js';

/** How wide and in which colours lines for people are. */
export interface Layout {
  readonly width: number;
  readonly paint: Paint;
}

/** The widest line of a report, so that it fits any terminal and a mail. */
const WIDEST = 80;
const NARROWEST = 40;

/** The layout for a stream. */
export function layoutOf(stream: NodeJS.WriteStream): Layout {
  return { width: reportWidth(stream), paint: createPaint(stream) };
}

/** How wide a report may be on a stream. */
export function reportWidth({ columns }: Pick<NodeJS.WriteStream, 'columns'>): number {
  return Math.max(NARROWEST, Math.min(columns ?? WIDEST, WIDEST));
}

// Characters, not UTF-16 units.
const lengthOf = (text: string): number => [...text].length;

/** Lines of at most `width` characters; a word that is longer is cut. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((one) => cut(one, width))) {
    if (line !== '' && lengthOf(line) + 1 + lengthOf(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

function cut(word: string, width: number): string[] {
  const characters = [...word];
  if (characters.length <= width) return [word];
  return Array.from({ length: Math.ceil(characters.length / width) }, (_, index) =>
    characters.slice(index * width, (index + 1) * width).join(''),
  );
}

/** A label and a text beside it, whose further lines stand below its first. */
export function labelledLines(label: string, text: string, width: number): string[] {
  const margin = ' '.repeat(lengthOf(label));
  return wrapText(text, width - margin.length).map(
    (line, index) => `${index === 0 ? label : margin}${line}`,
  );
}

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

function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(width - lengthOf(text));
  return align === 'left' ? `${text}${space}` : `${space}${text}`;
}
