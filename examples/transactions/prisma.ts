import { isPaid, PaymentClient, RetryLaterError } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';
import { fromPrisma, postgresStore } from 'merchant-payments/postgres';
import { prisma } from '@/prisma'; // your PrismaClient

export const store = postgresStore(fromPrisma(prisma), { client: PaymentClient.fromEnv() });
await store.setup();

/** Stores an order and its payment, both or neither, and sends the payment. */
export async function checkout(reference: string, amount: number) {
  const payment = { merchantPaymentReference: reference, amount, currency: 'EUR' };
  await prisma.$transaction(async (tx) => {
    await store.record(payment, { tx });
    await tx.orders.createMany({ data: { reference }, skipDuplicates: true });
  });
  return store.send(reference);
}

export const handler = callbackHandler({
  store,
  async onPayment({ payment }, { tx, order: reference, current }) {
    const { status } = payment;
    // An older status must not replace a newer one.
    if (current) {
      const { count } = await tx.orders.updateMany({ where: { reference }, data: { status } });
      if (count === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
    }
    // Done once, however late the change is.
    if (isPaid(payment)) {
      await tx.shipments.createMany({ data: { reference }, skipDuplicates: true });
    }
  },
});
