import type { ControlPayment } from 'merchant-payments/mock-server';
import type { Arguments, Terminal } from '../command.js';
import { connectToMock } from '../control/client.js';
import { interruptible } from '../interruption.js';
import { printJson, wantsJson } from '../output.js';
import { printCreated } from './created-text.js';
import type { Creation } from './creation.js';
import { withOutcome } from './outcome.js';

/**
 * Creates a payment in the running mock.
 *
 * @throws {Error} in a line; when a signal stopped it, with whether the payment may exist
 */
export async function createInMock(
  { extra, ...input }: Creation,
  given: Arguments,
  terminal: Terminal,
): Promise<void> {
  const mock = connectToMock(given, terminal);
  const payment = await interruptible((signal) =>
    mock.call<ControlPayment>({
      method: 'POST',
      path: ['payments'],
      body: { ...extra, ...input },
      signal,
    }),
  ).catch((error: unknown) => {
    throw withOutcome(error);
  });
  if (wantsJson(given)) printJson(terminal, payment);
  else printCreated(payment, terminal);
}
