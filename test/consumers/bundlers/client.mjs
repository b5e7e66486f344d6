import { PaymentClient } from 'merchant-payments';

// Prints the reference of a payment that it creates, or why it could not.
const client = new PaymentClient({
  baseUrl: process.argv[2],
  apiKey: process.argv[3],
  apiSecret: process.argv[4],
});
client.payments
  .create({ merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' })
  .then(
    ({ payment }) => console.log(payment.referenceNumber),
    (error) => console.log(error.message),
  )
  .then(() => client.close());
