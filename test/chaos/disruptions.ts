import type { MockServer } from '../../src/mock-server/server.js';
import { causeOutage, type Outage } from './outage.js';
import type { Store } from './store.js';

/** What happens to the store while a run is under way. */
export class Disruptions {
  readonly #store: Store;
  readonly #mock: MockServer;
  readonly #payments: number;
  #cut: Promise<void> | undefined;
  #outage: Promise<Outage> | undefined;

  constructor(store: Store, mock: MockServer, payments: number) {
    this.#store = store;
    this.#mock = mock;
    this.#payments = payments;
  }

  /** Its connections break after a quarter of the payments, and it crashes after the half. */
  next(paymentsDone: number): void {
    if (paymentsDone === Math.ceil(this.#payments / 4)) {
      this.#cut = this.#store.cutConnections();
      this.#cut.catch(leaveToEnd);
    }
    if (paymentsDone === Math.ceil(this.#payments / 2)) {
      this.#outage = causeOutage(this.#store, this.#mock);
      this.#outage.catch(leaveToEnd);
    }
  }

  async end(): Promise<Outage[]> {
    await this.#cut;
    const outage = await this.#outage;
    return outage === undefined ? [] : [outage];
  }
}

// Awaited when the traffic is over, so that the failure is not unhandled until then.
function leaveToEnd(): void {}
