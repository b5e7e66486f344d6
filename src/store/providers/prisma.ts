import { hasMethods, makeProvider, rowsOf, type TransactionProvider } from './provider.js';

/** A client of Prisma. */
export interface PrismaLike<Tx> {
  /** Runs `body` in an interactive transaction. */
  $transaction(body: (tx: Tx) => Promise<void>, options?: object): Promise<unknown>;
  /** Runs a statement. */
  $queryRawUnsafe(sql: string): PromiseLike<unknown>;
}

const WANTED = {
  orm: 'Prisma',
  by: 'fromPrisma',
  option: 'prisma',
  expected: 'a PrismaClient',
  methods: ['$transaction', '$queryRawUnsafe', '$connect'],
  isTransaction: (value: unknown) =>
    hasMethods(value, ['$queryRawUnsafe']) && !hasMethods(value, ['$connect']),
};

/**
 * Makes a store use the transactions of a Prisma client. `tx` is Prisma's own `Prisma.TransactionClient`, or that of your
 * extended client. Its `maxWait` and `timeout` are set from `acquireTimeoutMs` and `transactionTimeoutMs`.
 *
 * @param prisma - the client, with or without extensions
 * @throws {InvalidOptionError} when `prisma` is not a Prisma client, or is a transaction
 */
export function fromPrisma<Tx>(prisma: PrismaLike<Tx>): TransactionProvider<Tx> {
  return makeProvider<Tx>(prisma, WANTED, {
    transaction: (body, { acquireTimeoutMs: maxWait, transactionTimeoutMs: timeout }) =>
      prisma.$transaction(body, { isolationLevel: 'ReadCommitted', maxWait, timeout }),
    query: async (on, text) =>
      rowsOf(await (on as Pick<typeof prisma, '$queryRawUnsafe'>).$queryRawUnsafe(text)),
    forWork: (tx, end) => end.viewOf(tx as object) as Tx,
  });
}
