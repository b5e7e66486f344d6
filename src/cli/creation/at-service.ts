import type { CreatePaymentResult, PaymentClient } from 'merchant-payments';
import { type Arguments, type Terminal, UsageError } from '../command.js';
import { interruptible } from '../interruption.js';
import { printJson, printLine, printNote, wantsJson } from '../output.js';
import { plainJson, plainText } from '../plain-text.js';
import { printCreated, printFields } from './created-text.js';
import type { Creation } from './creation.js';
import { withOutcome } from './outcome.js';
import { readCreationAnswer, withoutCredentials } from './service-answer.js';

/**
 * Creates a payment at the service that the environment names.
 *
 * @throws {UsageError} when a variable is missing or can't be right
 * @throws {Error} in a line that says whether the payment may exist
 */
export async function createAtService(
  creation: Creation,
  given: Arguments,
  terminal: Terminal,
): Promise<void> {
  const { extra, ...input } = creation;
  await using client = await openClient(terminal);
  printNote(terminal, `creating a payment at ${plainText(client.toJSON().baseUrl)}`);
  const result = await interruptible((signal) =>
    client.payments.create(input, { extraBody: extra, signal }),
  ).catch((error: unknown) => {
    throw withOutcome(error);
  });
  const answer = readCreationAnswer(result.response);
  if (answer.kind === 'payment') printPayment({ creation, result }, given, terminal);
  else printUnnamed({ creation, result, body: answer.body }, given, terminal);
}

interface Created {
  readonly creation: Creation;
  readonly result: CreatePaymentResult;
}

function printPayment({ creation, result }: Created, given: Arguments, terminal: Terminal): void {
  const { merchantPaymentReference, amount, currency } = creation;
  const { payment, response } = result;
  const { env } = terminal;
  if (wantsJson(given)) printJson(terminal, withoutOwn(response.body as object, env));
  else {
    const shown = { ...withoutOwn(payment, env), merchantPaymentReference, amount, currency };
    printCreated(shown, terminal);
  }
}

function printUnnamed(
  { creation, result, body }: Created & { readonly body: object },
  given: Arguments,
  terminal: Terminal,
): void {
  const shown = withoutOwn(body, terminal.env);
  printNote(terminal, "note: the service's answer names no reference number");
  if (wantsJson(given)) {
    printJson(terminal, shown);
    return;
  }
  printLine(terminal, `the service accepted the payment with ${result.response.status}`);
  printFields(
    [
      ['merchant reference', creation.merchantPaymentReference],
      ['amount', `${creation.amount} ${creation.currency}`],
      ['it answered', plainJson(shown)],
    ],
    terminal,
  );
}

/** An answer without the credentials that it was asked with. */
function withoutOwn(answer: object, env: Terminal['env']): object {
  return withoutCredentials(answer, {
    apiKey: env['MERCHANT_PAYMENTS_API_KEY'] ?? '',
    apiSecret: env['MERCHANT_PAYMENTS_API_SECRET'] ?? '',
  });
}

async function openClient({ env }: Terminal): Promise<PaymentClient> {
  for (const variable of Object.values(variableOfOption)) {
    if (env[variable]) continue;
    throw new UsageError(
      `${variable} is not set, and MERCHANT_PAYMENTS_BASE_URL is: set it too, or give --mock-url for the mock`,
    );
  }
  const { InvalidOptionError, PaymentClient } = await import('merchant-payments');
  try {
    return PaymentClient.fromEnv({}, { ...env });
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error;
    const { option, message } = error;
    throw new UsageError(`${variableOfOption[option] ?? option}: ${message}`);
  }
}

const variableOfOption: Readonly<Record<string, string>> = {
  baseUrl: 'MERCHANT_PAYMENTS_BASE_URL',
  apiKey: 'MERCHANT_PAYMENTS_API_KEY',
  apiSecret: 'MERCHANT_PAYMENTS_API_SECRET',
};
