/** An error of Prisma's client for a statement that its adapter or the server refused. */
interface PrismaError extends Error {
  readonly clientVersion: string;
  readonly meta?: {
    readonly code?: unknown;
    readonly message?: unknown;
    readonly driverAdapterError?: { readonly cause?: AdapterError };
  };
}

type AdapterField = 'originalCode' | 'originalMessage' | 'state' | 'kind' | 'host' | 'port';
type AdapterError = Readonly<Partial<Record<AdapterField, unknown>>>;

/** A server's error as Prisma describes it. */
export interface PrismaFailure {
  readonly message: string;
  /** The server's code, from the adapter. */
  readonly code: unknown;
  /** The SQLSTATE, if the adapter has it too. */
  readonly state: unknown;
}

/** Finds the innermost error of the server among those that ORMs wrap; otherwise returns the error unchanged. */
export function innermostError(
  error: unknown,
  isOfServer: (error: unknown) => boolean,
  /** Adds the fields of a driver's error to a new error, since Prisma's own codes look like a server's. */
  mark: (error: Error, failure: PrismaFailure) => Error,
): unknown {
  let found = error;
  for (const inner of wrappedIn(error)) {
    if (isPrismas(inner)) {
      const failure = read(inner);
      return mark(new Error(failure.message, { cause: inner }), failure);
    }
    if (isOfServer(inner)) found = inner;
  }
  return found;
}

/** The error of a connection that could not be made, so that no statement was sent; undefined for any other. */
export function connectErrorOf(error: unknown): unknown {
  for (const inner of wrappedIn(error)) {
    const { syscall } = inner as { syscall?: unknown };
    if (syscall === 'connect' || syscall === 'getaddrinfo') return inner;
    const { kind, host, port } = isPrismas(inner) ? adapterErrorOf(inner) : {};
    if (kind === 'DatabaseNotReachable') return new Error(`can't reach ${host}:${port ?? ''}`);
  }
  return undefined;
}

/** The error, and those that ORMs have wrapped in it. */
function* wrappedIn(error: unknown): Generator<object> {
  let inner = error;
  for (let depth = 0; depth < 8 && typeof inner === 'object' && inner !== null; depth += 1) {
    yield inner;
    const { driverError, cause } = inner as { driverError?: unknown; cause?: unknown };
    inner = driverError ?? cause;
  }
}

function isPrismas(error: object): error is PrismaError {
  return 'clientVersion' in error && error instanceof Error;
}

function adapterErrorOf({ meta }: PrismaError): AdapterError {
  return meta?.driverAdapterError?.cause ?? {};
}

function read(error: PrismaError): PrismaFailure {
  const { code, message } = error.meta ?? {};
  const { originalCode, originalMessage, state } = adapterErrorOf(error);
  const text = [message, originalMessage].find((one) => typeof one === 'string') as string;
  return { message: text ?? error.message, code: originalCode ?? code, state };
}
