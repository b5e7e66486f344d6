import { type SqlSession, type Step, walk } from '../store/sql/session.js';
import type { Statements } from '../store/sql/statements.js';
import { isMissingTable } from './failures.js';
import { literal } from './literal.js';
import { explain, isDeadlock, isUndone } from './outbox-failures.js';
import type { MysqlRunner } from './runner.js';

const MAX_DEADLOCKS = 10;

/** Runs the statements and steps of an outbox on MySQL. */
export class MysqlSession<Tx> implements SqlSession<Tx> {
  readonly #runner: MysqlRunner<Tx>;

  constructor(runner: MysqlRunner<Tx>) {
    this.#runner = runner;
  }

  setup({ schema, checks }: Statements): Promise<void> {
    return explained(async () => {
      for (const [index, create] of schema.entries()) {
        const check = checks[index] as string;
        // Checked first: CREATE TABLE IF NOT EXISTS fails for a user without the right to create, even if the table
        // exists.
        const exists = await this.#runner.run(check).catch((error) => {
          if (!isMissingTable(error)) throw error;
        });
        if (exists !== undefined) continue;
        await this.#runner.run(create);
        // Fails if the table lacks a column.
        await this.#runner.run(check);
      }
    });
  }

  read(statement: string): Promise<readonly string[]> {
    return explained(() => this.#runner.run(statement));
  }

  change(
    statement: (mark: string) => string,
    owner: string | undefined,
  ): Promise<boolean | undefined> {
    const { change } = this.#runner;
    if (change === undefined) return Promise.resolve(undefined);
    const text = (session: number) => statement(owner === undefined ? '' : markOf(owner, session));
    return explained(() =>
      change(text).catch((error) => {
        if (isUndone(error)) return undefined;
        throw error;
      }),
    );
  }

  run<Value>(step: () => Step<Value>): Promise<Value> {
    return explained(async () => {
      for (let count = 1; ; count += 1) {
        try {
          return await this.#runner.runTogether((ask) => walk(step, ask));
        } catch (error) {
          // A deadlock has rolled back the whole transaction.
          if (!isDeadlock(error) || count === MAX_DEADLOCKS) throw error;
        }
      }
    });
  }

  runIn<Value>(tx: Tx, step: () => Step<Value>): Promise<Value> {
    return explained(() => this.#runner.runIn(tx, (ask) => walk(step, ask)));
  }

  /** Finds nothing if a proxy gave the session another id than the driver knows: KILL would hit another session. */
  async cancel(owner: string): Promise<void> {
    const sessions = await this.read(`SELECT CAST(id AS CHAR) FROM information_schema.processlist
WHERE LOCATE(CONCAT(${literal(`/* ${owner} `)}, id, ' */'), info) = 1`);
    for (const session of sessions) await this.read(`KILL ${Number(session)}`);
  }
}

/** @param session the driver's thread id of the session */
function markOf(owner: string, session: number): string {
  return `/* ${owner} ${session} */ `;
}

async function explained<Value>(act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    throw explain(error);
  }
}
