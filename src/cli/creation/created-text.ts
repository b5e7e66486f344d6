import type { Terminal } from '../command.js';
import { printLine } from '../output.js';
import { plainText } from '../plain-text.js';

/** What may be known of a payment that was created. */
export interface CreatedPayment {
  readonly referenceNumber?: unknown;
  readonly merchantPaymentReference?: unknown;
  readonly status?: unknown;
  readonly amount?: unknown;
  readonly currency?: unknown;
}

/** Prints a payment that was created. */
export function printCreated(payment: CreatedPayment, terminal: Terminal): void {
  printLine(terminal, 'the payment was created');
  printFields(
    [
      ['reference number', payment.referenceNumber],
      ['merchant reference', payment.merchantPaymentReference],
      ['status', payment.status],
      ['amount', `${payment.amount} ${payment.currency}`],
    ],
    terminal,
  );
}

/** Prints lines of a name and a value; none for a value that is not known. */
export function printFields(
  fields: readonly (readonly [name: string, value: unknown])[],
  terminal: Terminal,
): void {
  for (const [name, value] of fields) {
    if (value !== undefined) printLine(terminal, `  ${name.padEnd(20)}${plainText(String(value))}`);
  }
}
