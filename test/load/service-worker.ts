import { setTimeout as pause } from 'node:timers/promises';
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryState,
} from '../../src/mock-server/callbacks/delivery.js';
import type { MockEvent } from '../../src/mock-server/mock-service.js';
import { type MockServer, startMockServer } from '../../src/mock-server/server.js';
import { createSystemClock, type MockClock } from '../../src/mock-server/state/clock.js';
import type { MockPayment } from '../../src/mock-server/state/payments.js';
import { Gauge, type Holdings, listAlarms } from './measure.js';
import { type ChangePlan, type PaymentPlan, planPayment, planRange, type Range } from './plan.js';
import { serveCalls } from './worker-calls.js';

// The service's process: the mock, the faults of every payment, and the changes of its status.

export interface ServiceStart {
  readonly seed: number;
  readonly callbackUrl: string;
  readonly signingSecret: string;
}

/** What the service knows of one creation that reached it. */
export interface ServiceRecord {
  readonly number: number;
  /** Requests that arrived. */
  requests: number;
  readonly payments: ServicePayment[];
}

export interface ServicePayment {
  readonly referenceNumber: string;
  /** In the order in which they happened. */
  readonly changes: ServiceChange[];
}

export interface ServiceChange {
  readonly status: string;
  readonly updatedAt: string;
  /** The state of its delivery in the end. */
  state: string;
}

/** What the service knows of a part of the run. */
export interface ServiceAccount {
  readonly records: readonly ServiceRecord[];
  /** Attempts to deliver a callback: how they ended, and how often. */
  readonly attempts: Readonly<Record<string, number>>;
  /** The faults that were applied, and how often. */
  readonly faults: Readonly<Record<string, number>>;
  /** By how much the clock was moved ahead. */
  readonly advancedMs: number;
}

/** More than a run needs, so that no callback is abandoned by chance. */
const RETRY_SCHEDULE_MS = [1_000, 10_000, 60_000, 600_000, ...Array<number>(8).fill(3_600_000)];
/** How far the clock is moved ahead at a time. */
const STEP_MS = 600_000;
const STEP_EVERY_MS = 200;
/** Beyond it the next creations wait: callbacks come as fast as they are answered. */
const MAX_CHANGING = 120;

class Service {
  readonly #seed: number;
  readonly #server: MockServer;
  readonly #clock: MockClock;
  readonly gauge: Gauge;
  #records = new Map<number, ServiceRecord>();
  #attempts = new Map<string, number>();
  #faults = new Map<string, number>();
  #advancedMs = 0;
  #steppedAtMs = 0;
  /** Payments whose statuses are being changed. */
  #changing = 0;
  /** Deliveries that are not done. */
  #unsettled = 0;
  #payments = new Map<string, ServicePayment>();
  #deliveries = new Map<string, ServiceChange>();
  readonly #alarms: string[] = [];

  private constructor(seed: number, server: MockServer, clock: MockClock) {
    this.#seed = seed;
    this.#server = server;
    this.#clock = clock;
    server.subscribe((event) => this.#note(event));
    this.gauge = new Gauge(() => ({}));
  }

  static async start({ seed, ...options }: ServiceStart): Promise<Service> {
    const clock = createSystemClock();
    const server = await startMockServer({
      ...options,
      clock,
      seed,
      retryScheduleMs: RETRY_SCHEDULE_MS,
      // Only what is planned fails, however busy the machine is.
      callbackTimeoutMs: 600_000,
    });
    return new Service(seed, server, clock);
  }

  get account() {
    const { url, apiKey, apiSecret } = this.#server;
    return { baseUrl: url, apiKey, apiSecret };
  }

  get alarms(): readonly string[] {
    return this.#alarms;
  }

  /**
   * Has the faults of a range ready, once the changes of the payments before it are not too many.
   *
   * @returns how many faults are pending
   */
  async plan(range: Range): Promise<number> {
    if (performance.now() - this.#steppedAtMs > STEP_EVERY_MS) await this.#step();
    while (this.#changing > MAX_CHANGING) await pause(1);
    for (const { merchantPaymentReference, situation } of planRange(this.#seed, range)) {
      for (const fault of situation.faults) {
        this.#server.faults.add({ ...fault, match: { merchantPaymentReference } });
      }
    }
    return this.#server.faults.pending().length;
  }

  /** Removes the faults of requests that never arrived, as long as no call is under way. */
  async tidy(): Promise<void> {
    // What a client sent before it cancelled may still be on its way while a connection is open.
    await this.gauge.rest();
    this.#server.faults.clear();
  }

  /** Sends all that is still to be sent. */
  async settle(): Promise<void> {
    while (this.#changing > 0 || this.#unsettled > 0) {
      await this.#step();
      await pause(STEP_EVERY_MS);
    }
  }

  /** What there was since the last time. */
  take(): ServiceAccount {
    const account = {
      records: [...this.#records.values()],
      attempts: Object.fromEntries(this.#attempts),
      faults: Object.fromEntries(this.#faults),
      advancedMs: this.#advancedMs,
    };
    this.#records = new Map();
    this.#payments = new Map();
    this.#deliveries = new Map();
    this.#attempts = new Map();
    this.#faults = new Map();
    this.#advancedMs = 0;
    return account;
  }

  /** What it keeps: payments and entries of its logs. */
  get kept() {
    const { payments, requests, deliveries, faults } = this.#server;
    return {
      payments: payments.list().length,
      requests: requests.length,
      deliveries: deliveries.length,
      faults: faults.pending().length,
    };
  }

  forget(): void {
    this.#server.reset();
  }

  /** Brings retries and delays forward. */
  async #step(): Promise<void> {
    await this.#clock.advance(STEP_MS);
    this.#advancedMs += STEP_MS;
    this.#steppedAtMs = performance.now();
  }

  #note(event: MockEvent): void {
    if (event.type === 'payment' && event.payment.history.length === 1) this.#begin(event.payment);
    if (event.type === 'request') {
      const { request } = event;
      const { merchantPaymentReference } = request.json as { merchantPaymentReference: string };
      if (!request.ended) this.#record(merchantPaymentReference).requests += 1;
      else if (request.fault !== undefined) count(this.#faults, `request: ${request.fault}`);
    }
    if (event.type === 'attempt') this.#noteAttempt(event.attempt);
    if (event.type === 'delivery') this.#noteDelivery(event.delivery);
  }

  #noteAttempt({ response, outcome, errorCode, fault }: DeliveryAttempt): void {
    count(this.#attempts, response === undefined ? outcome : `${response.status}`);
    if (errorCode !== undefined) count(this.#attempts, errorCode);
    if (fault !== undefined) count(this.#faults, `callback: ${fault}`);
  }

  #record(merchantPaymentReference: string): ServiceRecord {
    const number = Number(merchantPaymentReference.split('-').at(-1));
    const known = this.#records.get(number);
    if (known !== undefined) return known;
    const record = { number, requests: 0, payments: [] };
    this.#records.set(number, record);
    return record;
  }

  #begin({ referenceNumber, merchantPaymentReference }: MockPayment): void {
    const record = this.#record(merchantPaymentReference);
    const payment: ServicePayment = { referenceNumber, changes: [] };
    record.payments.push(payment);
    this.#payments.set(referenceNumber, payment);
    this.#changing += 1;
    this.#changeStatuses(payment, planPayment(this.#seed, record.number))
      .catch((error) => this.#alarms.push(`a status could not be changed: ${error}`))
      .finally(() => {
        this.#changing -= 1;
      });
  }

  async #changeStatuses(payment: ServicePayment, { changes }: PaymentPlan): Promise<void> {
    const sendings = [];
    for (const plan of changes) {
      const sending = this.#change(payment, plan);
      sendings.push(sending);
      if (plan.isAwaited) await sending;
    }
    await Promise.all(sendings);
  }

  async #change({ referenceNumber }: ServicePayment, plan: ChangePlan): Promise<void> {
    const { status, faults } = plan;
    for (const [index, fault] of faults.entries()) {
      const match = { referenceNumber, status, attempt: index + 1 };
      this.#server.faults.add({ ...fault, match });
    }
    await this.#server.setStatus(referenceNumber, status);
  }

  #noteDelivery({ id, state, referenceNumber, payment: { status, updatedAt } }: Delivery): void {
    let change = this.#deliveries.get(id);
    if (change === undefined) {
      change = { status, updatedAt, state };
      this.#deliveries.set(id, change);
      this.#payments.get(referenceNumber)?.changes.push(change);
      this.#unsettled += 1;
    }
    const wasSettled = SETTLED.has(change.state);
    change.state = state;
    if (!wasSettled && SETTLED.has(state)) this.#unsettled -= 1;
  }
}

const SETTLED: ReadonlySet<string> = new Set<DeliveryState>([
  'acknowledged',
  'given-up',
  'cancelled',
  'not-configured',
]);

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Starts and closes a mock with everything under way, as a suite does for each of its tests. */
async function runShortLife(callbackUrl: string): Promise<void> {
  await using mock = await startMockServer({ callbackUrl, retryScheduleMs: [3_600_000] });
  const authorization = `Basic ${btoa(`${mock.apiKey}:${mock.apiSecret}`)}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const create = (merchantPaymentReference: string) => {
    const body = JSON.stringify({ merchantPaymentReference, amount: 1, currency: 'EUR' });
    return mock.fetch(new Request(`${mock.url}/api/payments`, { method: 'POST', headers, body }));
  };
  const created = await create('answered');
  const { referenceNumber } = (await created.json()) as { referenceNumber: string };
  mock.faults.add({ on: 'callback', type: 'drop' });
  await mock.setStatus(referenceNumber, 'paid');
  mock.faults.add({ on: 'request', type: 'hang' });
  const hanging = create('hanging').catch((error: { code?: string }) => error.code);
  await mock.waitForRequest({ merchantPaymentReference: 'hanging' });
  mock.reset();
  if ((await hanging) !== 'CONNECTION_LOST') throw new Error('a reset did not end a request');
  void mock.waitForDelivery({}).catch(() => {});
}

let service: Service | undefined;
let callbackUrl = '';

function started(): Service {
  if (service === undefined) throw new Error('start was not called');
  return service;
}

const calls = {
  async start(options: ServiceStart) {
    service = await Service.start(options);
    callbackUrl = options.callbackUrl;
    return service.account;
  },
  plan: (range: Range) => started().plan(range),
  tidy: () => started().tidy(),
  async settle(): Promise<void> {
    await started().settle();
    await started().tidy();
    await started().settle();
  },
  take: () => started().take(),
  forget: () => started().forget(),
  async runShortLives(times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) await runShortLife(callbackUrl);
  },
  measure: async (): Promise<Holdings> => started().gauge.measure(),
  kept: () => started().kept,
  listAlarms: () => [...listAlarms(), ...started().alarms],
};
export type ServiceCalls = typeof calls;

serveCalls(calls);
