import { PrismaMariaDb } from '@prisma/adapter-mariadb';
import { isPaid, PaymentClient, RetryLaterError } from 'merchant-payments';
import { fromPrisma, mysqlStore } from 'merchant-payments/mysql';
import { callbackHandler } from 'merchant-payments/node';
import { PrismaClient } from '@/generated/prisma/client'; // your generated client

// MySQL accepts savepoints only in the text protocol.
const adapter = new PrismaMariaDb(process.env.MYSQL_URL ?? '', { useTextProtocol: true });
export const prisma = new PrismaClient({ adapter });

export const store = mysqlStore(fromPrisma(prisma), { client: PaymentClient.fromEnv() });
await store.setup();

/** Stores an order and its payment, both or neither, and sends the payment. */
export async function checkout(reference: string, amount: number) {
  const payment = { merchantPaymentReference: reference, amount, currency: 'EUR' };
  await prisma.$transaction(async (tx) => {
    await store.record(payment, { tx });
    await tx.$executeRaw`
      INSERT INTO orders (reference) VALUES (${reference}) ON DUPLICATE KEY UPDATE reference = reference`;
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
      await tx.$executeRaw`
        INSERT INTO shipments (reference) VALUES (${reference}) ON DUPLICATE KEY UPDATE reference = reference`;
    }
  },
});
