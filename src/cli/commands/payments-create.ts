import {
  type Call,
  defineCommand,
  list,
  type Outcome,
  parsed,
  required,
  text,
  UsageError,
} from '../command.js';
import { connectToMock, mockUrlOption, noAnswer } from '../control-client.js';
import { fieldLines } from '../layout.js';
import { parseDecimal, readFields } from '../option-values.js';

const AMOUNT = 'A decimal number such as 100 or 12.50. Required.';

const options = {
  reference: required(text({ value: 'text', help: 'The merchantPaymentReference. Required.' })),
  amount: required(parsed({ value: 'number', help: AMOUNT }, parseDecimal)),
  currency: required(text({ value: 'code', help: 'Three capital letters. Required.' })),
  field: list({
    value: 'name=value',
    help: 'An additional field of the request. The value is JSON, or text if it is not JSON.',
  }),
  'mock-url': mockUrlOption,
};

export const create = defineCommand({
  summary: 'Creates a payment in the mock.',
  options,
  details: ['This is a request as from your code, so faults on requests apply to it.'],
  examples: [
    'merchant-payments payments create --reference order-1 --amount 12.50 --currency EUR',
    `merchant-payments payments create --reference order-2 --amount 100 --currency EUR --field customer='{"id":7}' --json`,
  ],
  run: createPayment,
});

async function createPayment(call: Call<typeof options>): Promise<Outcome> {
  const { reference: merchantPaymentReference, amount, currency, field } = call.options;
  const extraBody = readFields('--field', field);
  const { base } = connectToMock(call);
  const { PaymentClient } = await import('merchant-payments');
  await using client = new PaymentClient({
    // Below `/_mock` any credentials are accepted.
    baseUrl: `${base}/_mock`,
    apiKey: 'any',
    apiSecret: 'any',
    // A retry would hide a fault.
    maxRetries: 0,
    // From a container, the mock is on another host. Nothing sent to it is secret.
    dangerouslyAllowHttp: true,
  });
  const input = { merchantPaymentReference, amount, currency };
  const { payment, response } = await client.payments
    .create(input, { extraBody })
    .catch((error: unknown) => {
      throw explain(error, base);
    });
  const { referenceNumber, status } = payment as Partial<typeof payment>;
  if (!referenceNumber) {
    throw new Error(`the answer ${response.status} is not a payment, but one may exist`);
  }
  const fields = { merchantPaymentReference, amount: `${amount} ${currency}` };
  return {
    json: response.body,
    lines: () => ['the payment was created', ...fieldLines({ ...fields, referenceNumber, status })],
  };
}

/** Puts the code before the message, which says whether the payment may exist. */
function explain(error: unknown, base: string): unknown {
  if (!(error instanceof Error && 'code' in error && 'requestOutcome' in error)) return error;
  const { code, requestOutcome, message } = error;
  if (code === 'INVALID_REQUEST') return new UsageError(message);
  const isAbsent = code === 'CONNECTION_FAILED' && requestOutcome === 'not-sent';
  const name = 'serviceCode' in error ? error.serviceCode : code;
  return new Error(isAbsent ? noAnswer(base) : `${String(name)}: ${message}`);
}
