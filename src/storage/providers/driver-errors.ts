/** An error of Prisma's client for a statement that its adapter or the server refused. */
interface PrismaError extends Error {
  readonly clientVersion: string;
  readonly meta?: {
    readonly code?: unknown;
    readonly message?: unknown;
    readonly driverAdapterError?: {
      readonly cause?: {
        readonly originalCode?: unknown;
        readonly originalMessage?: unknown;
        readonly state?: unknown;
      };
    };
  };
}

/** What Prisma says of the server's error. */
export interface PrismaFailure {
  readonly message: string;
  /** The server's code, as the adapter gives it. */
  readonly code: unknown;
  /** The SQLSTATE, where the adapter gives that besides. */
  readonly state: unknown;
}

/**
 * The innermost error that the server answered with, of those that ORMs wrap in their own; else what was
 * thrown.
 */
export function innermostError(
  error: unknown,
  isOfServer: (error: unknown) => boolean,
  /** Sets on a new error what the driver would have. Prisma's own codes look like a server's. */
  mark: (error: Error, failure: PrismaFailure) => Error,
): unknown {
  let found = error;
  let inner = error;
  for (let depth = 0; depth < 8 && typeof inner === 'object' && inner !== null; depth += 1) {
    if (isPrismas(inner)) {
      const failure = read(inner);
      return mark(new Error(failure.message, { cause: inner }), failure);
    }
    if (isOfServer(inner)) found = inner;
    const { driverError, cause } = inner as { driverError?: unknown; cause?: unknown };
    inner = driverError ?? cause;
  }
  return found;
}

function isPrismas(error: object): error is PrismaError {
  return 'clientVersion' in error && error instanceof Error;
}

function read({ meta, message: ownMessage }: PrismaError): PrismaFailure {
  const { code, message, driverAdapterError } = meta ?? {};
  const { originalCode, originalMessage, state } = driverAdapterError?.cause ?? {};
  const text = [message, originalMessage].find((one) => typeof one === 'string');
  return { message: (text as string | undefined) ?? ownMessage, code: originalCode ?? code, state };
}
