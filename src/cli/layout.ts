import { plainText } from '../protocol/plain-text.js';
import { createPaint, type Paint, type Style, type Terminal } from './output.js';

/** The width and colours of output for people. */
export interface Layout {
  /** The width of a line of text. */
  readonly width: number;
  /** The width of a line of a table; absent when it is unlimited, as in a pipe. */
  readonly tableWidth?: number | undefined;
  readonly paint: Paint;
}

/** The width without a terminal; it fits in an e-mail. */
const DEFAULT_WIDTH = 80;
/** Longer lines of text are hard to read. */
const WIDEST = 120;
const NARROWEST = 40;

export function layoutOf({ stdout, env }: Pick<Terminal, 'stdout' | 'env'>): Layout {
  return {
    width: textWidth(stdout),
    tableWidth: stdout.columns,
    paint: createPaint(stdout, env),
  };
}

/** Returns the width of a line of text on a stream. */
export function textWidth({
  columns = DEFAULT_WIDTH,
}: Pick<NodeJS.WriteStream, 'columns'>): number {
  return Math.max(NARROWEST, Math.min(columns, WIDEST));
}

// Characters, not UTF-16 units.
const lengthOf = (text: string): number => [...text].length;

/** Wraps text into lines of at most `width` characters; a longer word is cut. */
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

/** Wraps a text beside a label; its further lines are indented to match the first. */
export function labelledLines(label: string, text: string, width: number): string[] {
  const margin = ' '.repeat(lengthOf(label));
  return wrapText(text, width - margin.length).map(
    (line, index) => `${index === 0 ? label : margin}${line}`,
  );
}

/** Lines with a name and a value; `undefined` values are left out. */
export function fieldLines(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `  ${name.padEnd(20)}${plainText(String(value))}`);
}

/** Formats the local time of day: `07:08:09`. */
export function timeOfDay(instant: string | Date): string {
  return new Date(instant).toTimeString().slice(0, 8);
}

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  /** The text of a cell; control characters are escaped. */
  readonly text: (row: Row) => string;
  /** A shorter text for a table that is wider than the terminal. */
  readonly short?: (row: Row) => string;
  readonly align?: 'left' | 'right';
  readonly style?: (row: Row) => Style | undefined;
}

const EMPTY_CELL = '-';
const NARROWEST_COLUMN = 8;

/**
 * Formats a table with its titles in the first line. An empty cell shows a dash. In a table that is wider
 * than the terminal, empty columns are left out and long cells are cut. Where that is not enough, each row is a list.
 */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { paint, tableWidth = Number.POSITIVE_INFINITY }: Pick<Layout, 'paint' | 'tableWidth'>,
): string[] {
  const layOut = (isShort: boolean) =>
    columns.map((column) => {
      const textOf = (isShort && column.short) || column.text;
      const cells = rows.map((row) => plainText(textOf(row)) || EMPTY_CELL);
      return { ...column, cells, width: Math.max(...[column.title, ...cells].map(lengthOf)) };
    });
  let laidOut = layOut(false);
  if (totalWidth(laidOut) > tableWidth) {
    laidOut = layOut(true).filter(({ cells }) => cells.some((cell) => cell !== EMPTY_CELL));
    if (!narrow(laidOut, tableWidth)) return listRows(laidOut, rows, { paint, tableWidth });
  }
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

const totalWidth = (columns: readonly { readonly width: number }[]): number =>
  columns.reduce((sum, { width }) => sum + width + 2, -2);

interface LaidOutColumn<Row> extends Column<Row> {
  readonly cells: readonly string[];
}

/** Each cell on a line of its own, after its title, with an empty line between rows. */
function listRows<Row>(
  columns: readonly LaidOutColumn<Row>[],
  rows: readonly Row[],
  { paint, tableWidth }: { readonly paint: Paint; readonly tableWidth: number },
): string[] {
  const margin = Math.max(...columns.map(({ title }) => lengthOf(title))) + 2;
  const width = Math.max(tableWidth - margin, NARROWEST_COLUMN);
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    ...columns.flatMap(({ title, cells, style }) => {
      const wanted = style?.(row);
      return wrapText(cells[index] as string, width).map((line, at) => {
        const label =
          at === 0
            ? paint('bold', title) + ' '.repeat(margin - lengthOf(title))
            : ' '.repeat(margin);
        return label + (wanted === undefined ? line : paint(wanted, line));
      });
    }),
  ]);
}

/** Narrows the widest columns until the table fits. Returns whether it does. */
function narrow(columns: { width: number }[], tableWidth: number): boolean {
  for (let excess = totalWidth(columns) - tableWidth; excess > 0; excess -= 1) {
    const widest = columns.reduce((one, other) => (other.width > one.width ? other : one));
    if (widest.width <= NARROWEST_COLUMN) return false;
    widest.width -= 1;
  }
  return true;
}

function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const characters = [...text];
  if (characters.length > width) return `${characters.slice(0, width - 1).join('')}…`;
  const space = ' '.repeat(width - characters.length);
  return align === 'left' ? `${text}${space}` : `${space}${text}`;
}
