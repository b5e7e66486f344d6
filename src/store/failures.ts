import { InvalidOptionError, StoreError } from '../errors.js';
import { nameFailure } from '../protocol/describe-value.js';
import { TransactionOpen } from './sql/runner.js';

/** How to explain the failures of a database server. */
export interface Server {
  readonly name: string;
  /** A further remedy when the pool returns no connection in time. */
  readonly poolRemedy: string;
  /** The message for missing tables, with the remedy. */
  readonly missingTables: string;
  isMissingTable(error: unknown): boolean;
  /** Returns a copy of a server error without the statement; undefined if it is not a server error. */
  withoutStatement(error: unknown): Error | undefined;
}

const neverSent = new WeakSet<object>();

/** Whether a step failed before anything reached the server, so that there is nothing to undo. */
export function wasNeverSent(error: unknown): boolean {
  return neverSent.has(error as object);
}

/** Converts the failure of a step to an error for users. */
export function explainFailure(error: unknown, server: Server): unknown {
  if (error instanceof StoreError || error instanceof InvalidOptionError) return error;
  if (error instanceof StoreError) {
    if (error.code !== 'STORE_TIMEOUT') return noAnswer(server);
    const explained = noConnectionInTime(server);
    neverSent.add(explained);
    return explained;
  }
  const cause = error instanceof TransactionOpen ? error : withoutStatement(error, server);
  if (server.isMissingTable(cause)) {
    return new StoreError('MISSING_TABLES', server.missingTables, { cause });
  }
  return new StoreError(
    'STORE_FAILED',
    `${server.name}, or the connection to it, failed during a step of the outbox; see cause. It is unknown whether the step was done; it is safe to repeat it`,
    { cause },
  );
}

// Drivers and ORMs add the statement to their errors, and it contains the request body.
function withoutStatement(error: unknown, server: Server): Error {
  return server.withoutStatement(error) ?? new Error(`the driver failed${nameFailure(error)}`);
}

function noConnectionInTime({ poolRemedy }: Server): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `The pool provided no connection within acquireTimeoutMs; check that the server can be reached, find what holds the pool's connections, make it larger, or ${poolRemedy}`,
  );
}

/** The error for an answer that is not the expected text. */
export function noAnswer({ name }: Pick<Server, 'name'>): StoreError {
  return new StoreError(
    'STORE_FAILED',
    `The pool changed what ${name} returned; look for a type parser, or a wrapper of the pool, that changes what queries return`,
  );
}

/** The error for a step without an answer in time. */
export function noAnswerInTime({ name }: Pick<Server, 'name'>, timeoutMs: number): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `${name} did not answer within ${timeoutMs} ms (commandTimeoutMs; with an ORM, plus acquireTimeoutMs), so the connection was closed. Check the server and the network, and whether one of your transactions that recorded the same payment is still open: commit it before create() or send()`,
  );
}
