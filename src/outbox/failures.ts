import { InboxError, InvalidOptionError, OutboxError } from '../errors.js';
import { nameFailure } from '../protocol/describe-value.js';
import { TransactionOpen } from '../storage/runner.js';

/** What is said of a database server's failures. */
export interface Server {
  readonly name: string;
  /** What to do about a pool that gives no connection in time, besides the rest. */
  readonly poolRemedy: string;
  /** What is wrong with the tables, and what to do. */
  readonly missingTables: string;
  isMissingTable(error: unknown): boolean;
  /** A stand-in for an error of the server, without what was sent; undefined when it is another one. */
  withoutStatement(error: unknown): Error | undefined;
}

const neverSent = new WeakSet<object>();

/** Whether a step failed before the server was asked: there is nothing to take back. */
export function wasNeverSent(error: unknown): boolean {
  return neverSent.has(error as object);
}

/** What users get for the failure of a step. */
export function explainFailure(error: unknown, server: Server): unknown {
  if (error instanceof OutboxError || error instanceof InvalidOptionError) return error;
  if (error instanceof InboxError) {
    if (error.code !== 'INBOX_TIMEOUT') return noAnswer(server);
    const explained = noConnectionInTime(server);
    neverSent.add(explained);
    return explained;
  }
  const cause = error instanceof TransactionOpen ? error : withoutStatement(error, server);
  if (server.isMissingTable(cause)) {
    return new OutboxError('MISSING_TABLES', server.missingTables, { cause });
  }
  return new OutboxError(
    'STORE_FAILED',
    `${server.name}, or the connection to it, failed during a step of the outbox; cause says how. It is not known whether the step was done; it is safe to repeat it`,
    { cause },
  );
}

// Drivers and ORMs add the statement to their errors, and it has the body.
function withoutStatement(error: unknown, server: Server): Error {
  return server.withoutStatement(error) ?? new Error(`the driver failed${nameFailure(error)}`);
}

function noConnectionInTime({ poolRemedy }: Server): OutboxError {
  return new OutboxError(
    'OUTBOX_TIMEOUT',
    `The pool gave no connection within acquireTimeoutMs; check that the server can be reached, find what holds the pool's connections, make it larger, or ${poolRemedy}`,
  );
}

/** The error for an answer that is not the text that was asked for. */
export function noAnswer({ name }: Pick<Server, 'name'>): OutboxError {
  return new OutboxError(
    'STORE_FAILED',
    `The pool changed what ${name} returned; look for a type parser, or a wrapper of the pool, that changes what queries return`,
  );
}

/** The error for a step that was not answered. */
export function noAnswerInTime({ name }: Pick<Server, 'name'>, timeoutMs: number): OutboxError {
  return new OutboxError(
    'OUTBOX_TIMEOUT',
    `${name} gave no answer within ${timeoutMs} ms (commandTimeoutMs; with an ORM acquireTimeoutMs is added), so the connection was closed. Check the server and the network, and whether a transaction of yours that has recorded the same payment is still open: commit it before create() or send()`,
  );
}
