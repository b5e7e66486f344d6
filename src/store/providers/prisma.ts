import { hasMethods, makeProvider, refuse, rowsOf, type TransactionProvider } from './provider.js';
import type { WorkEnd } from './work-end.js';

/** A client of Prisma. */
export interface PrismaLike<Tx> {
  /** Runs `body` in an interactive transaction. */
  $transaction(
    body: (tx: Tx) => Promise<void>,
    options?: {
      /** The isolation level. */
      isolationLevel?: 'ReadCommitted';
      /** How long to wait for a connection, in milliseconds. */
      maxWait?: number;
      /** How long the transaction may take, in milliseconds. */
      timeout?: number;
    },
  ): Promise<unknown>;
  /** Runs a statement. */
  $queryRawUnsafe(sql: string): PromiseLike<unknown>;
}

const WANTED = {
  by: 'fromPrisma',
  option: 'prisma',
  expected: 'a PrismaClient',
};

/**
 * Makes a store use the transactions of a Prisma client. `tx` is Prisma's own
 * `Prisma.TransactionClient`, or that of your extended client.
 *
 * Prisma's `maxWait` and `timeout` are set from `acquireTimeoutMs` and `transactionTimeoutMs`.
 *
 * @param prisma - the client, with or without extensions
 * @throws {InvalidOptionError} when `prisma` is not a Prisma client, or is a transaction
 */
export function fromPrisma<Tx>(prisma: PrismaLike<Tx>): TransactionProvider<Tx> {
  if (!hasMethods(prisma, ['$transaction', '$queryRawUnsafe', '$connect'])) refuse(WANTED, prisma);
  return makeProvider<Tx>({
    orm: 'Prisma',
    engine: engineOf(prisma),
    database: prisma,
    transaction: (body, { acquireTimeoutMs, transactionTimeoutMs }) =>
      prisma.$transaction(body, {
        isolationLevel: 'ReadCommitted',
        maxWait: acquireTimeoutMs,
        timeout: transactionTimeoutMs,
      }),
    isTransaction: (value) =>
      hasMethods(value, ['$queryRawUnsafe']) && !hasMethods(value, ['$connect']),
    query: async (on, text) =>
      rowsOf(await (on as Pick<typeof prisma, '$queryRawUnsafe'>).$queryRawUnsafe(text)),
    forWork: (tx, end) => refuseLate(tx as object, end) as Tx,
  });
}

type Callable = (...args: unknown[]) => unknown;
// A query is sent when one of these is called.
const SENDING: ReadonlySet<PropertyKey> = new Set(['then', 'catch', 'finally']);

/** A view of a transaction, a model or a query of Prisma that refuses once the work has ended. */
function refuseLate<Target extends object>(target: Target, end: WorkEnd): Target {
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name);
      if (isThenable(target) && SENDING.has(name)) {
        return (...args: never[]) => send(target, end)[name as 'then'](...args);
      }
      if (typeof member === 'object' && member !== null) return refuseLate(member, end);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (name === '$transaction') return nest(member.bind(target), args, end);
        const answer: unknown = Reflect.apply(member, target, args);
        return isThenable(answer) ? refuseLate(answer, end) : answer;
      };
    },
  });
}

/** Begins a nested transaction, which sends nothing itself once this one has ended. */
async function nest(begin: Callable, [body, ...more]: unknown[], end: WorkEnd): Promise<unknown> {
  end.assertNotOver();
  return begin((inner: object) => (body as Callable)(refuseLate(inner, end)), ...more);
}

async function send(query: PromiseLike<unknown>, end: WorkEnd): Promise<unknown> {
  end.assertNotOver();
  const running = Promise.resolve(query.then((answer) => answer));
  end.follow(running);
  return running;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

// Prisma has no public property for this.
function engineOf(prisma: object): string | undefined {
  const { _activeProvider: name } = prisma as { _activeProvider?: unknown };
  if (typeof name !== 'string') return undefined;
  return name === 'postgresql' ? 'postgres' : name;
}
