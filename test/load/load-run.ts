import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { PaymentClient } from '../../src/client/payment-client.js';
import { MerchantPaymentsError } from '../../src/errors.js';
import { type MockServer, startMockServer } from '../../src/mock-server/server.js';
import { createSystemClock } from '../../src/mock-server/state/clock.js';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { memoryStore } from '../../src/store/memory.js';
import {
  CALLBACK_SITUATIONS,
  LIVES,
  type Outcome,
  PAYMENTS,
  pick,
  SITUATIONS,
  type Situation,
} from './situations.js';

/** More than a run needs, so that no callback is abandoned by chance. */
const RETRY_SCHEDULE_MS = [1_000, 10_000, 60_000, 600_000, ...Array<number>(8).fill(3_600_000)];
const STEP_MS = 600_000;
/** More than the client's connections, so that some calls wait for one. */
const BURST = 600;
const GROUP = 100;
const FAILURE = 'the shop is out of order';

/** How the end of an idle connection may take a request with it: at the last moment, on a busy machine. */
const MOST_LOST = 0.01;

interface EndedCall {
  readonly reference: string;
  readonly situation: Situation;
  readonly outcome: Outcome;
  readonly code: string;
}

/** A client, the service and a merchant's endpoint in one process, with everything going wrong that can. */
export class LoadRun {
  /** What must not have happened: one line for each mistake. */
  readonly mistakes: string[] = [];
  readonly counts: Record<string, number> = {};
  readonly #random: () => number;
  readonly #clock = createSystemClock();
  readonly #sendings: Promise<unknown>[] = [];
  /** Callbacks that are neither acknowledged nor given up. */
  readonly #underWay = new Set<string>();
  readonly #ended: EndedCall[] = [];
  readonly #effects = new Map<string, number>();
  #mock: MockServer | undefined;
  #client: PaymentClient | undefined;
  #lost = 0;
  #calls = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** @param storeEntries fewer than a round's changes, so that the store is full after the first */
  async start(storeEntries: number): Promise<void> {
    const signingSecret = 'the signing secret of the load run';
    const handle = callbackHandler({
      signingSecret,
      store: memoryStore({ maxEntries: storeEntries }),
      onPayment: ({ payment }) => this.#work(`${payment.referenceNumber} ${payment.status}`),
      onError: (error) => {
        if (!(error instanceof Error) || error.message !== FAILURE) this.#object(String(error));
      },
      onRejected: ({ code }) => this.#count(`rejected: ${code}`),
    });
    const endpoint = createServer((request, response) => {
      // The connection is lost in place of the reply.
      if (this.#random() < 0.03) response.end = () => response.destroy();
      return handle(request, response);
    });
    await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
    const mock = await startMockServer({
      signingSecret,
      clock: this.#clock,
      callbackUrl: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`,
      retryScheduleMs: RETRY_SCHEDULE_MS,
      // Only what is planned fails, however busy the machine is.
      callbackTimeoutMs: 600_000,
    });
    mock.subscribe((event) => {
      if (event.type === 'delivery') {
        const { id, state } = event.delivery;
        if (['held', 'sending', 'retrying'].includes(state)) this.#underWay.add(id);
        else this.#underWay.delete(id);
      }
      if (event.type !== 'payment' || event.payment.history.length > 1) return;
      this.#sendings.push(this.#live(event.payment.referenceNumber));
    });
    const { url: baseUrl, apiKey, apiSecret } = mock;
    this.#mock = mock;
    this.#client = new PaymentClient({ baseUrl, apiKey, apiSecret, timeoutMs: 600_000 });
  }

  /** Creates payments, has all their callbacks delivered, looks at what is there, and forgets it. */
  async round(from: number, to: number): Promise<void> {
    for (let at = from; at < to; ) {
      const size = at === from ? BURST : GROUP;
      const numbers = Array.from({ length: Math.min(size, to - at) }, (_, index) => at + index);
      await Promise.all(numbers.map((number) => this.#create(`load-${number}`)));
      at += numbers.length;
      await this.#clock.advance(STEP_MS);
      this.#service.faults.clear();
    }
    await this.#settle();
    this.#lookAtCalls();
    this.#lookAtCallbacks();
    this.#service.reset();
    this.#effects.clear();
  }

  /** Against a client that excuses everything by a connection that closed. */
  end(): void {
    this.#count('requests lost to a closing connection', this.#lost);
    if (this.#lost > MOST_LOST * this.#calls) this.#object(`${this.#lost} requests were lost`);
    for (const { name } of SITUATIONS) {
      if (!Object.keys(this.counts).some((key) => key.startsWith(`${name}: `))) {
        this.#object(`never happened: ${name}`);
      }
    }
  }

  async #create(merchantPaymentReference: string): Promise<void> {
    const situation = pick(SITUATIONS, this.#random);
    const { faults, timeoutMs, abortAfterMs } = situation;
    for (const fault of faults) {
      this.#service.faults.add({ ...fault, match: { merchantPaymentReference } });
    }
    const signal = abortAfterMs === undefined ? undefined : AbortSignal.timeout(abortAfterMs);
    const ended = await this.#payments
      .create(
        { merchantPaymentReference, amount: 1, currency: 'EUR' },
        { signal, ...(timeoutMs !== undefined && { timeoutMs }) },
      )
      .then(
        () => ({ outcome: 'success' as const, code: '' }),
        (error: unknown) => {
          if (!(error instanceof MerchantPaymentsError)) throw error;
          return { outcome: error.requestOutcome as Outcome, code: error.code };
        },
      );
    this.#ended.push({ reference: merchantPaymentReference, situation, ...ended });
  }

  /** No sooner than now: what the client has given up may have reached the service later. */
  #lookAtCalls(): void {
    const payments = new Map<string, number>();
    for (const { merchantPaymentReference: reference } of this.#service.payments.list()) {
      payments.set(reference, (payments.get(reference) ?? 0) + 1);
    }
    for (const { reference, situation, outcome, code } of this.#ended.splice(0)) {
      const { name, ends } = situation;
      const said = `${reference} (${name}): ${outcome}, ${code}`;
      const count = payments.get(reference) ?? 0;
      this.#calls += 1;
      this.#count(`${name}: ${outcome}`);
      if (!PAYMENTS[outcome].includes(count)) this.#object(`${said}, with ${count} payments`);
      if (ends.includes(outcome)) continue;
      if (outcome === 'unknown' && code === 'CONNECTION_FAILED') this.#lost += 1;
      else this.#object(`${said}, which was not planned`);
    }
  }

  /** The changes of a payment's status, from the moment at which it is created. */
  async #live(referenceNumber: string): Promise<void> {
    const { statuses } = pick(LIVES, this.#random);
    for (const status of statuses) {
      const { faults } = pick(CALLBACK_SITUATIONS, this.#random);
      for (const fault of faults) {
        this.#service.faults.add({ ...fault, match: { referenceNumber, status } });
      }
      await this.#service.setStatus(referenceNumber, status);
    }
  }

  async #work(change: string): Promise<void> {
    const dice = this.#random();
    if (dice < 0.3) await pause(dice < 0.1 ? 3 : 0);
    if (dice < 0.05) throw new Error(FAILURE);
    this.#effects.set(change, (this.#effects.get(change) ?? 0) + 1);
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#sendings.splice(0));
    while (this.#underWay.size > 0) {
      await this.#clock.advance(STEP_MS);
      await pause(20);
    }
  }

  /** Each change has had its effect once. */
  #lookAtCallbacks(): void {
    for (const { referenceNumber, history } of this.#service.payments.list()) {
      for (const { status } of history.slice(1)) {
        const times = this.#effects.get(`${referenceNumber} ${status}`) ?? 0;
        this.#count('changes');
        if (times !== 1) this.#object(`${referenceNumber} ${status} had ${times} effects`);
      }
    }
  }

  get #service(): MockServer {
    if (this.#mock === undefined) throw new Error('start was not called');
    return this.#mock;
  }

  get #payments(): PaymentClient['payments'] {
    if (this.#client === undefined) throw new Error('start was not called');
    return this.#client.payments;
  }

  #count(name: string, by = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + by;
  }

  #object(mistake: string): void {
    this.mistakes.push(mistake);
  }
}
