import { readList, requirePositionals, requireText } from '../arguments.js';
import { type Arguments, type Command, UsageError } from '../command.js';
import { givenMockUrl, mockUrlOfServiceOption } from '../control/client.js';
import type { Creation } from '../creation/creation.js';
import { parseExactDecimal, parseJsonOrText, parsePair } from '../option-values.js';

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
    'mock-url': mockUrlOfServiceOption,
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
    if (isForService) {
      const { createAtService } = await import('../creation/at-service.js');
      await createAtService(creation, given, terminal);
    } else {
      const { createInMock } = await import('../creation/at-mock.js');
      await createInMock(creation, given, terminal);
    }
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
