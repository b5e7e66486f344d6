import type { ControlPayment, ControlPaymentPage } from 'merchant-payments/mock-server';
import { readText, requirePositionals } from '../arguments.js';
import { createPaint } from '../colors.js';
import type { Command } from '../command.js';
import { connectToMock, mockUrlOption } from '../control/client.js';
import { parseWholeNumber } from '../option-values.js';
import { printJson, printLine, printNote, wantsJson } from '../output.js';
import { type Column, formatTable } from '../table.js';

const columns: readonly Column<ControlPayment>[] = [
  { title: 'CREATED', text: ({ createdAt }) => createdAt },
  { title: 'REFERENCE NUMBER', text: ({ referenceNumber }) => referenceNumber },
  { title: 'MERCHANT REFERENCE', text: (payment) => payment.merchantPaymentReference },
  { title: 'STATUS', text: ({ status }) => status, style: () => 'cyan' },
  { title: 'AMOUNT', text: ({ amount }) => String(amount), align: 'right' },
  { title: 'CURRENCY', text: ({ currency }) => currency },
];

export const command: Command = {
  name: 'payments list',
  summary: 'Lists the payments of the running mock, newest first.',
  options: {
    search: {
      type: 'string',
      value: 'text',
      help: 'Only those with this text in a reference or the status, in capitals or not.',
    },
    limit: { type: 'string', value: 'n', help: 'At most so many, 1 to 1000. Default: 100' },
    'mock-url': mockUrlOption,
  },
  examples: [
    'merchant-payments payments list',
    'merchant-payments payments list --search order-1 --limit 5',
    'merchant-payments payments list --json',
  ],
  async run(given, terminal) {
    requirePositionals(given);
    const limit = parseWholeNumber('--limit', readText(given, 'limit') ?? '100', {
      min: 1,
      max: 1_000,
    });
    const page = await connectToMock(given, terminal).call<ControlPaymentPage>({
      method: 'GET',
      path: ['payments'],
      query: { limit, search: readText(given, 'search') },
    });
    const { payments, total } = page;
    if (wantsJson(given)) {
      printJson(terminal, page);
      return 0;
    }
    if (payments.length === 0) {
      printNote(terminal, 'There is no payment, or none that fits.');
      return 0;
    }
    for (const line of formatTable(columns, payments, createPaint(terminal.stdout))) {
      printLine(terminal, line);
    }
    if (total > payments.length) printNote(terminal, `${payments.length} of ${total} are shown.`);
    return 0;
  },
};
