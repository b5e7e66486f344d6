import { PrismaMariaDb } from '@prisma/adapter-mariadb';
import { RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { InboxContext } from 'merchant-payments/inbox';
import { fromPrisma, mysqlInbox } from 'merchant-payments/inbox/mysql';
import { type Prisma, PrismaClient } from '@/generated/prisma/client'; // your generated client

// MySQL accepts savepoints only in the text protocol.
const adapter = new PrismaMariaDb(process.env.MYSQL_URL ?? '', { useTextProtocol: true });
export const prisma = new PrismaClient({ adapter });

export const inbox = mysqlInbox(fromPrisma(prisma));
await inbox.setup();

export async function onPayment(
  { payment }: VerifiedCallback,
  { tx, stale }: InboxContext<Prisma.TransactionClient>,
) {
  const reference = payment.merchantPaymentReference;
  if (!stale) {
    const { count } = await tx.orders.updateMany({
      where: { reference },
      data: { status: payment.status },
    });
    if (count === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
  }
  if (payment.status === 'paid') {
    await tx.$executeRaw`
      INSERT INTO shipments (reference) VALUES (${reference}) ON DUPLICATE KEY UPDATE reference = reference`;
  }
}
