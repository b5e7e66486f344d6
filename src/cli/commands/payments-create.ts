import type { PaymentClient, RequestOutcome } from 'merchant-payments';
import type { ControlPayment } from 'merchant-payments/mock-server';
import { readList, requirePositionals, requireText } from '../arguments.js';
import { type Arguments, type Command, type Terminal, UsageError } from '../command.js';
import { connectToMock, givenMockUrl, mockUrlOption } from '../control/client.js';
import { parseExactDecimal, parseJsonOrText, parsePair } from '../option-values.js';
import { printJson, printLine, printNote, wantsJson } from '../output.js';
import { plainText } from '../plain-text.js';

interface Creation {
  readonly merchantPaymentReference: string;
  readonly amount: number;
  readonly currency: string;
  readonly extra: Readonly<Record<string, unknown>>;
}

export const command: Command = {
  name: 'payments create',
  summary: 'Creates a payment, in the running mock or at the service.',
  options: {
    reference: { type: 'string', value: 'text', help: "The merchant's own reference. Required." },
    amount: {
      type: 'string',
      value: 'number',
      help: 'A decimal number such as 100 or 12.50, of at most 15 significant digits. Required.',
    },
    currency: { type: 'string', value: 'code', help: 'Three capital letters. Required.' },
    field: {
      type: 'string',
      multiple: true,
      value: 'name=value',
      help: 'A further field of the request: JSON, or text where it is none.',
    },
    'mock-url': mockUrlOption,
  },
  details: [
    'Where it is created:',
    '  in the mock, when --mock-url or MERCHANT_PAYMENTS_MOCK_URL is given;',
    '  else at the service that MERCHANT_PAYMENTS_BASE_URL names, when it is set, with',
    '  MERCHANT_PAYMENTS_API_KEY and MERCHANT_PAYMENTS_API_SECRET;',
    '  else in the mock at its default address.',
  ],
  examples: [
    'merchant-payments payments create --reference order-1 --amount 12.50 --currency EUR',
    `merchant-payments payments create --reference order-2 --amount 100 --currency EUR --field customer='{"id":7}' --json`,
  ],
  async run(given, terminal) {
    requirePositionals(given);
    const creation = readCreation(given);
    const { env } = terminal;
    const isForService =
      givenMockUrl(given, terminal) === undefined && Boolean(env['MERCHANT_PAYMENTS_BASE_URL']);
    if (isForService) await createAtService(creation, given, terminal);
    else await createInMock(creation, given, terminal);
    return 0;
  },
};

/** The fields of a payment creation that the interface shows, and the flag of each. */
const flagOfField: Readonly<Record<string, string>> = {
  merchantPaymentReference: '--reference',
  amount: '--amount',
  currency: '--currency',
};

function readCreation(given: Arguments): Creation {
  const merchantPaymentReference = requireText(given, 'reference', 'text');
  if (merchantPaymentReference.trim() === '') throw new UsageError('--reference must not be blank');
  const amount = parseExactDecimal('--amount', requireText(given, 'amount', 'number'));
  const currency = requireText(given, 'currency', 'code');
  if (!/^[A-Z]{3}$/.test(currency)) {
    throw new UsageError('--currency must be three capital letters, such as EUR');
  }
  const extra = new Map<string, unknown>();
  for (const pair of readList(given, 'field')) {
    const { name, value } = parsePair('--field', pair);
    const flag = Object.hasOwn(flagOfField, name) ? flagOfField[name] : undefined;
    if (flag !== undefined) throw new UsageError(`--field ${name} is given by ${flag}`);
    if (extra.has(name)) throw new UsageError(`--field ${name} was given twice`);
    extra.set(name, parseJsonOrText(`--field ${name}`, value));
  }
  return { merchantPaymentReference, amount, currency, extra: Object.fromEntries(extra) };
}

async function createInMock(
  { extra, ...input }: Creation,
  given: Arguments,
  terminal: Terminal,
): Promise<void> {
  const payment = await connectToMock(given, terminal).call<ControlPayment>({
    method: 'POST',
    path: ['payments'],
    body: { ...extra, ...input },
  });
  if (wantsJson(given)) printJson(terminal, payment);
  else printPayment(payment, terminal);
}

async function createAtService(
  { extra, ...input }: Creation,
  given: Arguments,
  terminal: Terminal,
): Promise<void> {
  await using client = await openClient(terminal);
  printNote(terminal, `creating a payment at ${plainText(client.toJSON().baseUrl)}`);
  const { payment, response } = await client.payments
    .create(input, { extraBody: extra })
    .catch((error: unknown) => {
      throw withOutcome(error);
    });
  if (wantsJson(given)) printJson(terminal, response.body ?? null);
  else printPayment({ ...input, ...payment }, terminal);
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

const OUTCOMES: Readonly<Record<RequestOutcome, string>> = {
  'not-sent': 'Nothing was sent, so no payment was created',
  rejected: 'The service did not accept the request, so no payment was created',
  accepted: 'The service accepted the request: the payment exists, do not create it again',
  unknown:
    'It is unknown whether the payment was created: look for it before you try again, since a second try can create a second payment',
};

function withOutcome(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && 'requestOutcome' in error)) return error;
  const outcome = OUTCOMES[error.requestOutcome as RequestOutcome];
  return new Error(`${String(error.code)}: ${error.message.replace(/\.$/, '')}. ${outcome}`);
}

/** What may be known of a payment that was created. */
interface CreatedPayment {
  readonly referenceNumber?: unknown;
  readonly merchantPaymentReference?: unknown;
  readonly status?: unknown;
  readonly amount?: unknown;
  readonly currency?: unknown;
}

function printPayment(payment: CreatedPayment, terminal: Terminal): void {
  const lines: readonly (readonly [string, unknown])[] = [
    ['reference number', payment.referenceNumber],
    ['merchant reference', payment.merchantPaymentReference],
    ['status', payment.status],
    ['amount', `${payment.amount} ${payment.currency}`],
  ];
  printLine(terminal, 'the payment was created');
  for (const [name, value] of lines) {
    if (value !== undefined) printLine(terminal, `  ${name.padEnd(20)}${plainText(String(value))}`);
  }
}
