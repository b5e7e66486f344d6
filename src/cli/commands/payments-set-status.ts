import type { ControlDelivery } from 'merchant-payments/mock-server';
import { requirePositionals } from '../arguments.js';
import type { Command } from '../command.js';
import { CALLBACK_TIMEOUT_MS, connectToMock, mockUrlOption } from '../control/client.js';
import { findPayment } from '../control/payment-reference.js';
import { printDelivery } from '../delivery-text.js';
import { printJson, printLine, wantsJson } from '../output.js';
import { plainText } from '../plain-text.js';

export const command: Command = {
  name: 'payments set-status',
  summary: 'Sets the status of a payment of the running mock, which sends the callback.',
  positionals: '<reference-number> <status>',
  options: { 'mock-url': mockUrlOption },
  details: [
    'The payment may be given by its reference number, the beginning of it, or by the',
    "merchant's own reference, as long as only one payment is meant. Any status may follow any other.",
    'It ends when the endpoint has answered, and says what. The exit code is 0 when the status was',
    'set, whatever the endpoint answered.',
  ],
  examples: [
    'merchant-payments payments set-status order-1 paid',
    'merchant-payments payments set-status 4f2a paid --json',
  ],
  async run(given, terminal) {
    const [word, status] = requirePositionals(given, 'reference-number', 'status') as [
      string,
      string,
    ];
    const client = connectToMock(given, terminal);
    const { referenceNumber, merchantPaymentReference } = await findPayment(client, word);
    const delivery = await client.call<ControlDelivery>({
      method: 'POST',
      path: ['payments', referenceNumber, 'status'],
      body: { status },
      timeoutMs: CALLBACK_TIMEOUT_MS,
    });
    if (wantsJson(given)) {
      printJson(terminal, delivery);
      return 0;
    }
    printLine(
      terminal,
      `payment ${plainText(referenceNumber)} (${plainText(merchantPaymentReference)}) is ${plainText(delivery.status)}`,
    );
    printDelivery(delivery, terminal);
    return 0;
  },
};
