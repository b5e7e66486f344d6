import type { ControlFault, ControlFaults } from 'merchant-payments/mock-server';
import { createPaint } from './colors.js';
import type { Arguments, Terminal } from './command.js';
import { printJson, printLine, printNote, wantsJson } from './output.js';
import { plainJson } from './plain-text.js';
import { type Column, formatTable } from './table.js';

const columns: readonly Column<ControlFault>[] = [
  { title: 'ON', text: ({ on }) => on },
  { title: 'TYPE', text: ({ type }) => type, style: () => 'yellow' },
  { title: 'TIMES LEFT', text: ({ times }) => String(times ?? 1), align: 'right' },
  { title: 'MATCH', text: ({ match }) => describeFields(match ?? {}) },
  {
    title: 'FIELDS',
    text: ({ on: _on, type: _type, times: _times, match: _match, ...own }) => describeFields(own),
  },
];

/** Prints the faults that are pending, as a table or as JSON. */
export function printFaults(answer: ControlFaults, given: Arguments, terminal: Terminal): void {
  if (wantsJson(given)) {
    printJson(terminal, answer);
    return;
  }
  if (answer.faults.length === 0) {
    printNote(terminal, 'No fault is pending.');
    return;
  }
  for (const line of formatTable(columns, answer.faults, createPaint(terminal.stdout))) {
    printLine(terminal, line);
  }
}

function describeFields(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : plainJson(value)}`)
    .join(' ');
}
