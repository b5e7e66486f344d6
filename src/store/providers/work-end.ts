import { notAwaited, workHasEnded } from '../sql/nested-transactions.js';

/**
 * The end of the work, and of the `tx` that it was given. Most ORMs send what comes later on the same connection, where
 * it may get into the transaction of another payment.
 */
export class WorkEnd {
  #isOver = false;
  readonly #running = new Set<Promise<unknown>>();

  /** Whether the work has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** @throws {StoreError} `TRANSACTION_LOST` when the work has ended */
  assertNotOver(): void {
    if (this.#isOver) throw workHasEnded();
  }

  /** Remembers what runs until it settles. */
  follow(running: Promise<unknown>): void {
    const settled: Promise<unknown> = running
      .catch(() => undefined)
      .finally(() => this.#running.delete(settled));
    this.#running.add(settled);
  }

  /** Refuses everything from now on. */
  close(): void {
    this.#isOver = true;
  }

  /**
   * The same, and waits for what still runs. Resolves with the error of work that returned before.
   */
  async closeAndWait(): Promise<Error | undefined> {
    this.close();
    if (this.#running.size === 0) return undefined;
    await Promise.all(this.#running);
    return notAwaited('a query of it was running');
  }
}

type Method = (...args: unknown[]) => unknown;

/** Methods of a connection that return a connection. */
const CONNECTIONS: readonly PropertyKey[] = ['connection', 'promise'];

/** A view of a connection whose methods throw once the work has ended. */
export function untilOver<Connection extends object>(
  connection: Connection,
  end: WorkEnd,
): Connection {
  return new Proxy(connection, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') {
        // The callback connection under a promise connection of mysql2.
        return CONNECTIONS.includes(name) && isObject(value) ? untilOver(value, end) : value;
      }
      return (...args: unknown[]) => {
        end.assertNotOver();
        const answer = (value as Method).apply(target, args);
        if (CONNECTIONS.includes(name) && isObject(answer)) return untilOver(answer, end);
        // Not a command of mysql2, whose then() throws.
        if (answer instanceof Promise) end.follow(answer);
        return answer;
      };
    },
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
