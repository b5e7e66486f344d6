import { lost } from '../errors.js';

type Method = (...args: unknown[]) => unknown;

/**
 * The end of the work, and of the views of `tx` that it was given. What comes later would get into the transaction of
 * another payment, since pools and most ORMs send it on the same connection.
 */
export class WorkEnd implements ProxyHandler<object> {
  #isOver = false;
  #running = 0;
  #idle: (() => void) | undefined;

  /** A view of a connection or a transaction, and of the queries that it returns, which refuses once the work has ended. */
  viewOf<Target extends object>(target: Target): Target {
    return new Proxy(target, this as ProxyHandler<Target>);
  }

  get(target: object, name: PropertyKey): unknown {
    // Of the target itself, whose fields may be private.
    const value: unknown = Reflect.get(target, name, target);
    // The connection belongs to the store.
    if (name === 'release') return () => undefined;
    if (typeof value === 'function') {
      if (name === 'constructor') return value;
      return (...args: unknown[]) => this.#call(name, value as Method, target, args);
    }
    const isPart = typeof value === 'object' && value !== null && typeof name === 'string';
    return isPart && !isFixed(target, name) ? this.viewOf(value) : value;
  }

  apply(target: object, self: unknown, args: unknown[]): unknown {
    return this.#call('', target as Method, self, args);
  }

  #call(name: PropertyKey, method: Method, self: unknown, args: unknown[]): unknown {
    if (this.#isOver) return refuse(name, args);
    return this.run(() => Reflect.apply(method, self, args));
  }

  /** @throws {StoreError} `TRANSACTION_LOST` when the work has ended */
  assertNotOver(): void {
    if (this.#isOver) throw workHasEnded();
  }

  /** Does what the work asks for, and counts it until it settles. Refuses it once the work has ended. */
  run(send: () => unknown): unknown {
    if (this.#isOver) return Promise.reject(workHasEnded());
    const answer = send();
    const { then } = (answer ?? {}) as { then?: unknown };
    if (typeof then !== 'function') return answer;
    // Not yet sent: a query of Prisma, Drizzle or postgres.js.
    if (!(answer instanceof Promise) || answer.constructor !== Promise) {
      return this.viewOf(answer as object);
    }
    return this.#follow(answer);
  }

  async #follow(answer: Promise<unknown>): Promise<unknown> {
    this.#running += 1;
    try {
      // Awaited, so that the stack of an error leads to the work.
      return await answer;
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#idle?.();
    }
  }

  /** Refuses everything from now on, and waits for what still runs. Resolves with whether something did. */
  async close(): Promise<boolean> {
    this.#isOver = true;
    if (this.#running === 0) return false;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    return true;
  }
}

/** @throws {StoreError} `TRANSACTION_LOST` when the work returns while one of its queries runs */
export async function runWithView<Tx>(
  makeView: (end: WorkEnd) => Tx | Promise<Tx>,
  work: (view: Tx) => Promise<void>,
): Promise<void> {
  const end = new WorkEnd();
  let ranOn = false;
  try {
    await work(await makeView(end));
  } finally {
    ranOn = await end.close();
  }
  if (!ranOn) return;
  throw lost(
    'The work returned while a query was still running, so its transaction was rolled back; a later delivery runs it again. Await every query',
  );
}

/** Refuses a call as its caller expects it: by a callback, by a promise, or by throwing. */
function refuse(name: PropertyKey, args: unknown[]): unknown {
  const refusal = workHasEnded();
  const answered = args.at(-1);
  // A query that is sent when it is awaited hands over what settles the promise.
  if (name === 'then') return Promise.reject(refusal).then(...(args as []));
  // Of mysql2, and no promise.
  if (name === 'promise') throw refusal;
  const isAsked = name === 'query' && typeof answered === 'function';
  return isAsked ? answered(refusal) : Promise.reject(refusal);
}

/** Whether a Proxy must return the field itself. */
function isFixed(target: object, name: string): boolean {
  return Object.getOwnPropertyDescriptor(target, name)?.configurable === false;
}

const workHasEnded = () =>
  lost(
    'The query was not sent: the work that was given this tx has ended. Await every query before the work returns',
  );
