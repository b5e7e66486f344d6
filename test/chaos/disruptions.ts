import type { DeliveryAttempt } from '../../src/mock-server/callbacks/delivery.js';
import type { MockServer } from '../../src/mock-server/server.js';
import type { Database } from './database.js';
import { causeOutage, type Outage } from './outage.js';

export interface DisruptionsOptions {
  readonly database: Database;
  readonly mock: MockServer;
  /** How many payments or orders there will be. */
  readonly size: number;
  /** Which attempts an outage is to last for. */
  readonly isCounted: (attempt: DeliveryAttempt) => boolean;
}

/** What happens to the database while a run is under way. */
export class Disruptions {
  readonly #options: DisruptionsOptions;
  #cut: Promise<void> | undefined;
  #outage: Promise<Outage> | undefined;

  constructor(options: DisruptionsOptions) {
    this.#options = options;
  }

  /** Its connections break after a quarter of them, and it crashes after the half. */
  next(done: number): void {
    const { database, mock, size, isCounted } = this.#options;
    if (done === Math.ceil(size / 4)) {
      this.#cut = database.cutConnections();
      this.#cut.catch(leaveToEnd);
    }
    if (done === Math.ceil(size / 2)) {
      this.#outage = causeOutage(database, mock, isCounted);
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
