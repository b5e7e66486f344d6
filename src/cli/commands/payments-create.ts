import { type Call, defineCommand, list, parsed, required, text, UsageError } from '../command.js';
import { mockUrlOfServiceOption } from '../control-client.js';
import { type Creation, createPayment } from '../creation.js';
import { parseExactDecimal, readFields } from '../option-values.js';

const options = {
  reference: required(text({ value: 'text', help: "The merchant's own reference. Required." })),
  amount: required(
    parsed(
      {
        value: 'number',
        help: 'A decimal number such as 100 or 12.50, of at most 15 significant digits. Required.',
      },
      parseExactDecimal,
    ),
  ),
  currency: required(text({ value: 'code', help: 'Three capital letters. Required.' })),
  field: list({
    value: 'name=value',
    help: 'A further field of the request: JSON, or text where it is not JSON.',
  }),
  'mock-url': mockUrlOfServiceOption,
};

export const create = defineCommand({
  name: 'payments create',
  summary: 'Creates a payment, in the running mock or at the service.',
  options,
  details: [
    'It is created in the mock when --mock-url or MERCHANT_PAYMENTS_MOCK_URL is given; else at the service that MERCHANT_PAYMENTS_BASE_URL names, when it is set, with MERCHANT_PAYMENTS_API_KEY and MERCHANT_PAYMENTS_API_SECRET; else in the mock at its default address. A .env that --env-file does not name leads to no service beyond this machine.',
    '',
    'The mock answers it as any request, so it meets the faults on requests.',
  ],
  examples: [
    'merchant-payments payments create --reference order-1 --amount 12.50 --currency EUR',
    `merchant-payments payments create --reference order-2 --amount 100 --currency EUR --field customer='{"id":7}' --json`,
  ],
  run: (call) => createPayment(readCreation(call), call),
});

/** The fields of a payment creation that the interface shows, and the flag of each. */
const flagOfField = {
  merchantPaymentReference: '--reference',
  amount: '--amount',
  currency: '--currency',
};

function readCreation({ options: given }: Call<typeof options>): Creation {
  const { reference: merchantPaymentReference, amount, currency, field } = given;
  if (merchantPaymentReference.trim() === '') throw new UsageError('--reference must not be blank');
  if (!/^[A-Z]{3}$/.test(currency)) {
    throw new UsageError('--currency must be three capital letters, such as EUR');
  }
  const extra = readFields('--field', field, { flagOfField });
  return { merchantPaymentReference, amount, currency, extra };
}
