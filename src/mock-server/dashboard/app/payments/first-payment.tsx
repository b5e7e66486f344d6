import { CopyButton } from '../parts/copy-button.js';
import { RawText } from '../parts/raw-text.js';

/** What to do when there is no payment yet. */
export function FirstPayment() {
  const snippet = [
    "import { PaymentClient } from 'merchant-payments';",
    '',
    '// MERCHANT_PAYMENTS_API_KEY and MERCHANT_PAYMENTS_API_SECRET: those of this mock.',
    `const client = PaymentClient.fromEnv({ baseUrl: '${window.location.origin}' });`,
    'const { payment } = await client.payments.create({',
    "  merchantPaymentReference: 'order-1001',",
    '  amount: 2500,',
    "  currency: 'EUR',",
    '});',
    'console.log(payment.referenceNumber, payment.status);',
    '',
  ].join('\n');
  return (
    <section class="card first" aria-labelledby="first-title">
      <h3 id="first-title">Make the first payment</h3>
      <p>
        Create one with the form on this page, or from your code with the client. It appears here by
        itself. Then set it to <strong>paid</strong>, and watch the signed callback reach your
        endpoint.
      </p>
      <RawText title="With the client" text={snippet} />
      <CopyButton label="Copy snippet" text={snippet} />
    </section>
  );
}
