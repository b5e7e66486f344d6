import { plainText } from '../protocol/plain-text.js';
import { createPaint, type Paint, type Style, type Terminal } from './terminal.js';

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

/** Wraps text into lines of at most `width` characters. A longer word stays whole, so that it can be copied. */
export function wrapText(text: string, width: number): string[] {
  const [first = '', ...words] = text.split(' ');
  const lines = [first];
  for (const word of words) {
    const line = lines.at(-1) ?? '';
    if (lengthOf(line) + 1 + lengthOf(word) > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
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
    .map(([name, value]) => `  ${name.padEnd(26)}${plainText(String(value))}`);
}

/** The one form of time for people: the local `07:08:09`, with the date before it on another day. */
export function formatTime(instant: string | number | Date, now = new Date()): string {
  const at = new Date(instant);
  const time = at.toTimeString().slice(0, 8);
  // Sweden writes dates in ISO 8601.
  const isToday = at.toDateString() === now.toDateString();
  return isToday ? time : `${at.toLocaleDateString('sv')} ${time}`;
}

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  /** The text of a cell; control characters are escaped. */
  readonly text: (row: Row) => string;
  readonly align?: 'right';
  readonly style?: (row: Row) => Style | undefined;
  /** Whether only `--wide` shows it. */
  readonly isWide?: true;
}

const EMPTY_CELL = '-';

/**
 * Formats a table with its titles in the first line, without its empty columns. Nothing is ever cut: where a table
 * is wider than the terminal, each row becomes a list.
 */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { paint, tableWidth = Number.POSITIVE_INFINITY }: Pick<Layout, 'paint' | 'tableWidth'>,
): string[] {
  const shown = columns
    .map((column) => {
      const cells = rows.map((row) => plainText(column.text(row)) || EMPTY_CELL);
      return { ...column, cells, width: Math.max(...[column.title, ...cells].map(lengthOf)) };
    })
    .filter(({ cells }) => cells.some((cell) => cell !== EMPTY_CELL));
  const cellsOf = (row: Row, index: number) =>
    shown.map(({ title, cells, width, align, style }) => {
      const text = cells[index] as string;
      const space = ' '.repeat(width - lengthOf(text));
      const wanted = style?.(row);
      const painted = wanted === undefined ? text : paint(wanted, text);
      return { title, text, painted, padded: align ? space + painted : painted + space };
    });
  const total = shown.reduce((sum, { width }) => sum + width + 2, -2);
  if (total > tableWidth) {
    const margin = Math.max(...shown.map(({ title }) => lengthOf(title))) + 2;
    return rows.flatMap((row, index) => [
      ...(index === 0 ? [] : ['']),
      ...cellsOf(row, index)
        .filter(({ text }) => text !== EMPTY_CELL)
        .map(({ title, painted }) => paint('bold', title.padEnd(margin)) + painted),
    ]);
  }
  const head = shown.map(({ title, width, align }) =>
    align ? title.padStart(width) : title.padEnd(width),
  );
  return [
    paint('bold', head.join('  ').trimEnd()),
    ...rows.map((row, index) =>
      cellsOf(row, index)
        .map(({ padded }) => padded)
        .join('  ')
        .trimEnd(),
    ),
  ];
}
