import type { MockClock, MockTimer } from '../clock/clock.js';
import { ConnectionLossError } from './connection-loss.js';

/** Requests that a fault keeps waiting: `delay` until a time, `hang` without end. */
export class WaitingRequests {
  readonly #clock: MockClock;
  readonly #cutOff = new Set<(reason: Error) => void>();

  constructor(clock: MockClock) {
    this.#clock = clock;
  }

  /**
   * Settles after `delayMs` on the service's clock.
   *
   * @throws {ConnectionLossError} when the client leaves, or the service is reset or closed
   */
  delay(signal: AbortSignal, delayMs: number): Promise<void> {
    return this.#wait(signal, (arrive) => this.#clock.setTimeout(arrive, delayMs));
  }

  /**
   * Never answers.
   *
   * @throws {ConnectionLossError} when the client leaves, or the service is reset or closed
   */
  hang(signal: AbortSignal): Promise<never> {
    return this.#wait<never>(signal, () => undefined);
  }

  /** Breaks the connection of every request that waits. */
  cutOff(reason: string): void {
    for (const fail of this.#cutOff) fail(new ConnectionLossError('reset', reason));
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
      const leave = () => fail(new ConnectionLossError('reset', 'The client left'));
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
