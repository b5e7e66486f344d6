import { StoreError } from '../../errors.js';
import { wasNeverSent } from '../errors.js';
import type { Step } from '../payment-steps.js';
import { pause } from '../waiting.js';
import type { ServerTimeouts } from './server-options.js';
import { type Deadline, type SqlSession, type StoreServer, walk } from './transactions.js';

const MAX_TRIES = 10;

/** Runs the statements and steps of a store on a database server. */
export class ServerSession<Tx> implements SqlSession<Tx> {
  readonly #server: StoreServer<Tx>;
  readonly #timeouts: ServerTimeouts;

  constructor(server: StoreServer<Tx>, timeouts: ServerTimeouts) {
    this.#server = server;
    this.#timeouts = timeouts;
  }

  setup(): Promise<void> {
    return this.#explained(() => this.#server.setup());
  }

  read(statement: string): Promise<readonly string[]> {
    const { connections, failures } = this.#server;
    return this.#explained(() =>
      onceMore(
        () => connections.read(statement),
        (error) => failures.isLost(error),
      ),
    );
  }

  change(statement: string): Promise<boolean | undefined> {
    const { connections, failures } = this.#server;
    const change = async (isRepeated: boolean) => {
      try {
        const isChanged = await connections.change(statement, this.#lockTimeoutMs);
        // The first one may have been done, although its connection was lost.
        return isRepeated ? isChanged || undefined : isChanged;
      } catch (error) {
        if (failures.isUndone(error)) return undefined;
        throw error;
      }
    };
    return this.#explained(() => onceMore(change, (error) => failures.isLost(error)));
  }

  // Shorter than the deadline, so that the server answers, and the connection can be kept.
  get #lockTimeoutMs(): number {
    return Math.ceil(this.#timeouts.commandTimeoutMs * 0.9);
  }

  run<Value>(step: () => Step<Value>): Promise<Value> {
    const deadline: Deadline = {
      timeoutMs: this.#timeouts.commandTimeoutMs,
      createError: this.#server.failures.noStepInTime,
    };
    return this.#explained(() => this.#tryAll(step, deadline));
  }

  async #tryAll<Value>(step: () => Step<Value>, deadline: Deadline): Promise<Value> {
    const { connections, failures } = this.#server;
    let hasReconnected = false;
    for (let triesLeft = MAX_TRIES; ; triesLeft -= 1) {
      let hasBegun = false;
      try {
        return await connections.run(async (transaction) => {
          await transaction.begin(this.#lockTimeoutMs, []);
          hasBegun = true;
          const result = await walk(step, (statement) => transaction.ask(statement));
          return { end: 'commit', result, statements: [] };
        }, deadline);
      } catch (error) {
        const wasDead: boolean = !hasBegun && !hasReconnected && failures.isLost(error);
        hasReconnected ||= wasDead;
        if (!(wasDead || failures.isUndone(error)) || triesLeft === 1) throw error;
        if (wasDead) await pause(PAUSE_MS);
      }
    }
  }

  runIn<Value>(tx: Tx, step: () => Step<Value>): Promise<Value> {
    const { connections, failures } = this.#server;
    return connections
      .runIn(tx, (ask) => walk(step, ask))
      .catch((error) => {
        throw failures.explain(error);
      });
  }

  async #explained<Value>(act: () => Promise<Value>): Promise<Value> {
    try {
      return await act();
    } catch (error) {
      // What the connections say of a loss is about the work of a callback.
      const isLoss = error instanceof StoreError && error.code === 'TRANSACTION_LOST';
      throw this.#server.failures.explain(isLoss ? error.cause : error);
    }
  }
}

/** The pool may hear meanwhile that a connection has died, and others with it. */
const PAUSE_MS = 50;

/** Runs `act`, which may be done twice, once more if its connection was dead: a pool can return one that has died. */
export async function onceMore<Value>(
  act: (isRepeated: boolean) => Promise<Value>,
  isDead: (error: unknown) => boolean,
): Promise<Value> {
  try {
    return await act(false);
  } catch (error) {
    if (!isDead(error)) throw error;
    await pause(PAUSE_MS);
    return act(true).catch((second) => {
      // The first one may have been done.
      throw wasNeverSent(second) ? error : second;
    });
  }
}
