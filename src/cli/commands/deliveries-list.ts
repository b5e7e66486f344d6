import type { ControlAttempt, ControlAttemptPage } from 'merchant-payments/mock-server';
import { readText, requirePositionals } from '../arguments.js';
import { createPaint } from '../colors.js';
import type { Command } from '../command.js';
import { connectToMock, mockUrlOption } from '../control/client.js';
import { findPayment } from '../control/payment-reference.js';
import { outcomeStyle } from '../delivery-text.js';
import { parseWholeNumber } from '../option-values.js';
import { printJson, printLine, printNote, wantsJson } from '../output.js';
import { type Column, formatTable } from '../table.js';

const columns: readonly Column<ControlAttempt>[] = [
  { title: 'TIME', text: ({ sentAt }) => sentAt },
  { title: 'PAYMENT', text: ({ referenceNumber }) => referenceNumber },
  { title: 'STATUS', text: ({ status }) => status, style: () => 'cyan' },
  {
    title: 'ATTEMPT',
    text: ({ attempt, copy }) => (copy > 0 ? `${attempt} copy ${copy}` : String(attempt)),
    align: 'right',
  },
  {
    title: 'OUTCOME',
    text: ({ outcome }) => outcome,
    style: ({ outcome }) => outcomeStyle(outcome),
  },
  {
    title: 'HTTP',
    text: ({ response, errorCode }) =>
      response === undefined ? (errorCode ?? '') : String(response.status),
  },
  { title: 'MS', text: ({ latencyMs }) => latencyMs.toFixed(0), align: 'right' },
  { title: 'FAULT', text: ({ fault }) => fault ?? '' },
  { title: 'NEXT RETRY', text: ({ nextRetryAt }) => nextRetryAt ?? '' },
  { title: 'ID', text: ({ id }) => id },
];

export const command: Command = {
  name: 'deliveries list',
  summary: 'Lists what the running mock sent to the callback URL, newest first.',
  options: {
    payment: {
      type: 'string',
      value: 'reference',
      help: "Only those of one payment: its reference number, the beginning of it, or the merchant's own reference.",
    },
    limit: { type: 'string', value: 'n', help: 'At most so many, 1 to 1000. Default: 100' },
    'mock-url': mockUrlOption,
  },
  examples: [
    'merchant-payments deliveries list',
    'merchant-payments deliveries list --payment order-1 --json',
  ],
  async run(given, terminal) {
    requirePositionals(given);
    const limit = parseWholeNumber('--limit', readText(given, 'limit') ?? '100', {
      min: 1,
      max: 1_000,
    });
    const client = connectToMock(given, terminal);
    const payment = readText(given, 'payment');
    const page = await client.call<ControlAttemptPage>({
      method: 'GET',
      path: ['deliveries'],
      query: {
        limit,
        referenceNumber:
          payment === undefined ? undefined : (await findPayment(client, payment)).referenceNumber,
      },
    });
    const { attempts, total } = page;
    if (wantsJson(given)) {
      printJson(terminal, page);
      return 0;
    }
    if (attempts.length === 0) {
      printNote(terminal, 'No callback was sent yet, or none that fits.');
      return 0;
    }
    for (const line of formatTable(columns, attempts, createPaint(terminal.stdout))) {
      printLine(terminal, line);
    }
    if (total > attempts.length) printNote(terminal, `${attempts.length} of ${total} are shown.`);
    return 0;
  },
};
