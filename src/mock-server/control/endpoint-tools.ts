import type { CheckCallbackEndpointOptions } from 'merchant-payments/testing';
import type { EndpointCheck, EndpointReport } from '../../testing/endpoint-check/report.js';
import { ControlFailure } from './control-call.js';
import type { ControlCheck } from './control-types.js';

/** `merchant-payments/testing`, loaded when it is first used: a mock that starts does not pay for it. */
export const loadTestingTools = () => import('merchant-payments/testing');

/** The check of the merchant's endpoint that is under way, or the last one. */
export class EndpointCheckRun {
  #checks: EndpointCheck[] = [];
  #report: EndpointReport | undefined;
  #failure: string | undefined;
  #running: AbortController | undefined;

  view(): ControlCheck {
    return {
      isRunning: this.#running !== undefined,
      checks: this.#checks,
      report: this.#report,
      failure: this.#failure,
    };
  }

  /**
   * Settles when the check is under way.
   *
   * @throws {ControlFailure} when another one is
   * @throws {InvalidOptionError} when an option is invalid
   */
  async start(url: string, options: CheckCallbackEndpointOptions): Promise<void> {
    if (this.#running !== undefined) {
      throw new ControlFailure(
        'CONFLICT',
        'A check is under way already; wait for it, or cancel it',
      );
    }
    const running = new AbortController();
    this.#running = running;
    try {
      const { checkCallbackEndpoint } = await loadTestingTools();
      const checks: EndpointCheck[] = [];
      const ended = checkCallbackEndpoint(url, {
        ...options,
        signal: running.signal,
        onCheck: (check) => checks.push(check),
      });
      // Invalid options are refused before anything is sent.
      await Promise.race([ended, new Promise((resolve) => setImmediate(resolve))]);
      this.#checks = checks;
      this.#report = undefined;
      this.#failure = undefined;
      void this.#follow(ended, running);
    } catch (error) {
      this.#running = undefined;
      throw error;
    }
  }

  async #follow(ended: Promise<EndpointReport>, running: AbortController): Promise<void> {
    try {
      this.#report = await ended;
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
    } finally {
      if (this.#running === running) this.#running = undefined;
    }
  }

  cancel(): void {
    this.#running?.abort();
  }
}
