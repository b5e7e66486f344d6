import { invalidOption, LONGEST_TIMER_MS } from '../../protocol/options.js';
import { Loss } from '../loss.js';
import type { ServerFailures } from '../sql/server-failures.js';
import type { Connections, ServerTimeouts } from '../sql/transactions.js';
import { type ProvidedEngine, runProvided } from './provided-run.js';
import type { TransactionProvider } from './provider.js';

type Ask = (statement: string) => Promise<readonly string[]>;

/** What an engine adds to the connections of an ORM. */
export interface ProvidedConnectionsOptions<Tx> extends ProvidedEngine<Tx> {
  readonly serverFailures: ServerFailures;
  textsOf(rows: readonly object[]): readonly string[];
  /** @throws {InvalidOptionError} when the merchant's transaction has ended */
  assertOpen(ask: Ask): Promise<void>;
  readonly change: (
    statement: string,
    alone: (statement: string) => Promise<readonly object[]>,
  ) => Promise<boolean | undefined>;
}

/** The connections of an ORM. Its own deadlines apply in addition. */
export function providedConnections<Tx>(
  provider: TransactionProvider<Tx>,
  timeouts: ServerTimeouts,
  engine: ProvidedConnectionsOptions<Tx>,
): Connections<Tx> {
  const { serverFailures, textsOf } = engine;
  const { acquireTimeoutMs, commandTimeoutMs, transactionTimeoutMs } = timeouts;
  const ofWork = {
    timeoutMs: transactionTimeoutMs,
    createError: (ms: number) => serverFailures.noEndOfWorkInTime(ms),
  };
  const timeoutMs = Math.min(acquireTimeoutMs + commandTimeoutMs, LONGEST_TIMER_MS);
  const alone = (statement: string): Promise<readonly object[]> => {
    const loss = new Loss();
    const timer = setTimeout(() => loss.report(serverFailures.noStepInTime(timeoutMs)), timeoutMs);
    const running = provider.query(provider.database, statement);
    return loss.orSettled(running).finally(() => clearTimeout(timer));
  };
  return {
    isSingle: provider.isSingle,
    // The ORM waits for a connection, and can't be told to stop.
    runsLate: true,
    run: (body, deadline = ofWork) => runProvided(engine, provider, timeouts, body, deadline),
    read: async (statement) => textsOf(await alone(statement)),
    change: (statement) => engine.change(statement(Number.NaN), alone),
    async runIn(tx, body) {
      if (!provider.isTransaction(tx ?? {})) {
        const expected = `a transaction of ${provider.orm}: the one that it, or the store, passes to your code`;
        throw invalidOption('tx', expected, tx);
      }
      const ask: Ask = async (statement) => textsOf(await provider.query(tx, statement));
      await engine.assertOpen(ask);
      return body(ask);
    },
  };
}
