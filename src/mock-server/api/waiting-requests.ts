import { MockServerError } from '../../errors.js';
import type { MockClock, MockTimer } from '../state/clock.js';

/**
 * A broken connection, as `fetch` shows it: the promise rejects with it, or the answer's body ends in it.
 * The HTTP server breaks the real connection.
 */
export class ConnectionLoss extends MockServerError {
  /** `reset`: by a TCP reset. `end`: closed in order, but too early. */
  readonly how: 'reset' | 'end';

  constructor(how: 'reset' | 'end', message: string) {
    super('CONNECTION_LOST', message);
    this.how = how;
  }
}

/** Requests that a fault holds: `delay` for a while, `hang` forever. */
export class WaitingRequests {
  readonly #clock: MockClock;
  readonly #cutOff = new Set<(reason: Error) => void>();

  constructor(clock: MockClock) {
    this.#clock = clock;
  }

  /**
   * Settles after `delayMs` on the service's clock.
   *
   * @throws {ConnectionLoss} when the client leaves, or the service is reset or closed
   */
  delay(signal: AbortSignal, delayMs: number): Promise<void> {
    return this.#wait(signal, (arrive) => this.#clock.setTimeout(arrive, delayMs));
  }

  /**
   * Never answers.
   *
   * @throws {ConnectionLoss} when the client leaves, or the service is reset or closed
   */
  hang(signal: AbortSignal): Promise<never> {
    return this.#wait<never>(signal, () => undefined);
  }

  /** Breaks the connection of every request that waits. */
  cutOff(reason: string): void {
    for (const fail of this.#cutOff) fail(new ConnectionLoss('reset', reason));
  }

  #wait<Result>(
    signal: AbortSignal,
    start: (arrive: (result: Result) => void) => MockTimer | undefined,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const end = () => {
        timer?.cancel();
        signal.removeEventListener('abort', leave);
        this.#cutOff.delete(fail);
      };
      const fail = (reason: Error) => {
        end();
        reject(reason);
      };
      const leave = () => fail(new ConnectionLoss('reset', 'The client left'));
      const timer = start((result) => {
        end();
        resolve(result);
      });
      this.#cutOff.add(fail);
      signal.addEventListener('abort', leave);
      if (signal.aborted) leave();
    });
  }
}
