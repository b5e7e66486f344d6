import { RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { InboxContext } from 'merchant-payments/inbox';
import { fromPrisma, postgresInbox } from 'merchant-payments/inbox/postgres';
import { type Prisma, prisma } from '@/prisma'; // your PrismaClient

export const inbox = postgresInbox(fromPrisma(prisma));

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
    await tx.shipments.createMany({ data: { reference }, skipDuplicates: true });
  }
}
