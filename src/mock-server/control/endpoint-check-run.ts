import type { CheckCallbackEndpointOptions } from 'merchant-payments/testing';
import type { EndpointCheck, EndpointReport } from '../../testing/endpoint-check/report.js';
import { ControlFailure } from './control-call.js';
import type { ControlCheck } from './control-types.js';

/** Loads `merchant-payments/testing` on first use, so that the mock starts without it. */
export const loadTestingTools = () => import('merchant-payments/testing');

/** The options that a call of the control interface may set. */
export type CheckSettings = Pick<
  CheckCallbackEndpointOptions,
  'countEffects' | 'effectCounts' | 'merchantPaymentReference'
>;

/** The running check of the merchant's endpoint, or the last one. */
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
   * Resolves once the check is running.
   *
   * @throws {ControlFailure} when another check is running
   * @throws {InvalidOptionError} when an option is invalid
   */
  async start(url: string, options: CheckCallbackEndpointOptions): Promise<void> {
    if (this.#running !== undefined) {
      throw new ControlFailure('CONFLICT', 'A check is already running; wait for it or cancel it');
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
      // Invalid options reject at once, before anything is sent.
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
