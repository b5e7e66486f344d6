import { getEventListeners } from 'node:events';
import type { PaymentClientOptions } from '../../src/client/options.js';
import { PaymentClient } from '../../src/client/payment-client.js';
import { MerchantPaymentsError } from '../../src/errors.js';
import type { Logger } from '../../src/protocol/logger.js';
import { Gauge, type Holdings, listAlarms } from './measure.js';
import { type Outcome, type PaymentPlan, planRange, type Range } from './plan.js';
import { serveCalls } from './worker-calls.js';

// The client's process: makes the calls it is asked to, and says how each ended.

export interface ClientStart {
  readonly seed: number;
  readonly baseUrl: string;
  /** A URL at which no server listens. */
  readonly closedUrl: string;
  readonly apiKey: string;
  readonly apiSecret: string;
}

/** How a call ended. */
export interface CallEnd {
  readonly number: number;
  readonly outcome: Outcome;
  /** The error's `code`. */
  readonly code: string | undefined;
  /** Of a success, when its body could be read. */
  readonly referenceNumber: string | undefined;
  /** Of a success: how many requests it took. */
  readonly attempts: number | undefined;
  /** What is wrong with it whatever the service did. */
  readonly mistake: string | undefined;
}

type ClientName = PaymentPlan['client'] | 'closed port';

interface Traffic {
  readonly seed: number;
  readonly options: Readonly<Record<ClientName, PaymentClientOptions>>;
  readonly clients: Readonly<Record<ClientName, PaymentClient>>;
  readonly gauge: Gauge;
}

let traffic: Traffic | undefined;

// Every call gets it, as an application passes its shutdown signal.
const shutdown = new AbortController();

// Only the deadlines that are planned pass, however busy the machine is.
const timeoutMs = 600_000;

function start({ seed, closedUrl, ...rest }: ClientStart): void {
  const account = { ...rest, timeoutMs };
  const options = {
    undici: account,
    observed: { ...account, logger: silentLogger() },
    fetch: { ...account, fetch: globalThis.fetch },
    'closed port': { ...account, baseUrl: closedUrl },
  };
  const clients = {
    undici: new PaymentClient(options.undici),
    observed: new PaymentClient(options.observed),
    fetch: new PaymentClient(options.fetch),
    'closed port': new PaymentClient(options['closed port']),
  };
  const gauge = new Gauge(() => ({
    'the shared signal': getEventListeners(shutdown.signal, 'abort').length,
  }));
  traffic = { seed, options, clients, gauge };
}

// What is logged is another suite's matter; that it is made and let go of is this one's.
function silentLogger(): Logger {
  const drop = (_fields: object, _message: string) => {};
  return { debug: drop, info: drop, warn: drop, error: drop };
}

function started(): Traffic {
  if (traffic === undefined) throw new Error('start was not called');
  return traffic;
}

/** Makes all the calls of a range at the same time. */
function run(range: Range): Promise<CallEnd[]> {
  const { seed, clients } = started();
  const plans = planRange(seed, range);
  return Promise.all(plans.map((plan) => create(plan, clients[clientNameOf(plan)])));
}

function clientNameOf({ situation, client }: PaymentPlan): ClientName {
  return situation.call === 'to a closed port' ? 'closed port' : client;
}

async function create(plan: PaymentPlan, client: PaymentClient): Promise<CallEnd> {
  const { number, merchantPaymentReference, situation } = plan;
  const { call, timeoutMs } = situation;
  const amount = call === 'with invalid input' ? Number.NaN : number + 1;
  try {
    const { payment, response } = await client.payments.create(
      { merchantPaymentReference, amount, currency: 'EUR' },
      { signal: createSignal(plan), ...(timeoutMs !== undefined && { timeoutMs }) },
    );
    const named = payment.merchantPaymentReference ?? merchantPaymentReference;
    return {
      number,
      outcome: 'success',
      code: undefined,
      referenceNumber: payment.referenceNumber,
      attempts: response.attempts,
      mistake: named === merchantPaymentReference ? undefined : `got the payment of ${named}`,
    };
  } catch (error) {
    return { number, ...describeFailure(error), referenceNumber: undefined, attempts: undefined };
  }
}

function describeFailure(error: unknown): Pick<CallEnd, 'outcome' | 'code' | 'mistake'> {
  if (error instanceof MerchantPaymentsError && error.requestOutcome !== undefined) {
    return { outcome: error.requestOutcome, code: error.code, mistake: undefined };
  }
  const text = error instanceof Error ? String(error.stack) : String(error);
  return { outcome: 'unknown', code: undefined, mistake: `an error of no outcome: ${text}` };
}

function createSignal({ situation, abortAfterMs, number }: PaymentPlan): AbortSignal | undefined {
  switch (situation.call) {
    case 'aborted before':
      return AbortSignal.abort();
    case 'aborted at once':
      return abortedBy(setImmediate);
    case 'aborted later':
      return abortedBy((abort) => setTimeout(abort, abortAfterMs));
    default:
      return number % 2 === 0 ? shutdown.signal : undefined;
  }
}

function abortedBy(schedule: (abort: () => void) => unknown): AbortSignal {
  const controller = new AbortController();
  schedule(() => controller.abort());
  return controller.signal;
}

/** Makes a client for each call and closes it, as a function does that is started for every order. */
function runShortLives(range: Range): Promise<CallEnd[]> {
  const { seed, options } = started();
  const runOne = async (plan: PaymentPlan): Promise<CallEnd> => {
    await using client = new PaymentClient(options[clientNameOf(plan)]);
    return await create(plan, client);
  };
  return Promise.all(planRange(seed, range).map(runOne));
}

const calls = {
  start,
  run,
  runShortLives,
  measure: (): Promise<Holdings> => started().gauge.measure(),
  listAlarms,
};
export type ClientCalls = typeof calls;

serveCalls(calls);
