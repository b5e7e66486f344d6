import { tracingChannel } from 'node:diagnostics_channel';
import { expect, it, onTestFinished } from 'vitest';
import type { PaymentClientOptions } from '../../src/client/options.js';
import type { PaymentClient } from '../../src/client/payment-client.js';
import { memoryStore } from '../../src/store/memory.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { startTelemetry } from '../opentelemetry/telemetry.js';
import { pairwise } from '../pairwise.js';
import { createClient, httpAnswer, order, refusedPort, startRawServer } from './raw-server.js';

type Options = Partial<PaymentClientOptions>;

/** Ways to a failed call. */
const failures: Record<string, (options: Options) => Promise<() => Promise<unknown>>> = {
  'a 400': async (options) => {
    const server = await startRawServer({ answer: () => httpAnswer(400) });
    const client = createClient(server.url, options);
    return () => client.payments.create(order);
  },
  'a 503, and another after a retry': async (options) => {
    const answer = () => httpAnswer(503, '', { 'retry-after': '0' });
    const server = await startRawServer({ answer });
    const client = createClient(server.url, {
      ...options,
      idempotency: 'merchantPaymentReference',
    });
    return () => client.payments.create(order, { maxRetries: 1 });
  },
  'a refused connection': async (options) => {
    const client = createClient(`http://127.0.0.1:${await refusedPort()}`, options);
    return () => client.payments.create(order, { maxRetries: 0 });
  },
  'a timeout': async (options) => {
    const client = createClient((await startRawServer({})).url, options);
    return () => client.payments.create(order, { timeoutMs: 50 });
  },
  'an abort': async (options) => {
    const server = await startRawServer({});
    const client = createClient(server.url, options);
    const caller = new AbortController();
    void server.received(1).then(() => caller.abort());
    return () => client.payments.create(order, { signal: caller.signal });
  },
  'a secret that fails': async (options) => {
    const apiKey = () => Promise.reject(new Error('The vault is closed'));
    const client = createClient('https://payments.invalid', { ...options, apiKey });
    return () => client.payments.create(order);
  },
  'invalid input': async (options) => {
    const client = createClient('https://payments.invalid', options);
    return () => client.payments.create({ ...order, amount: Number.NaN });
  },
  'a 400 for a store': async (options) => {
    const server = await startRawServer({ answer: () => httpAnswer(400) });
    const store = openStore(createClient(server.url, options), options);
    return () => store.create(order);
  },
  'a 400 for a payment that a store has recorded': async (options) => {
    const server = await startRawServer({ answer: () => httpAnswer(400) });
    const store = openStore(createClient(server.url, options), options);
    await store.record(order, { tx: undefined });
    return () => store.send(order.merchantPaymentReference);
  },
  'a timeout before a store sends': async (options) => {
    const apiKey = () => new Promise<never>(() => undefined);
    const client = createClient('https://payments.invalid', { ...options, apiKey });
    const store = openStore(client, options);
    return () => store.create(order, { timeoutMs: 50 });
  },
  'a reference that a store does not know': async (options) => {
    const store = openStore(createClient('https://payments.invalid', options), options);
    return () => store.send('order-of-nobody');
  },
};

function openStore(client: PaymentClient, { logger }: Options): PaymentStore {
  return memoryStore({ client, logger });
}

function subscribe(channelName: string): void {
  const channel = tracingChannel<object, object>(channelName);
  const listeners = { start() {}, end() {}, asyncStart() {}, asyncEnd() {}, error() {} };
  channel.subscribe(listeners);
  onTestFinished(() => void channel.unsubscribe(listeners));
}

const ignore = (): void => {};
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const observers: Record<string, () => Options> = {
  'no observer': () => ({}),
  'a logger': () => ({ logger }),
  'subscribers of the channels': () => {
    subscribe('merchant-payments:call');
    subscribe('merchant-payments:request');
    return {};
  },
  'a logger and OpenTelemetry': () => {
    startTelemetry();
    return { logger };
  },
};

type Caller = (call: () => Promise<unknown>) => Promise<unknown>;

const callers: Record<string, Caller> = {
  'awaits it': async function placeTheOrder(call) {
    return await call();
  },
  'handles its failure': async function placeTheOrder(call) {
    return await call().catch((error: unknown) => Promise.reject(error));
  },
  'awaits it among others': async function placeTheOrder(call) {
    return (await Promise.all([call(), Promise.resolve()]))[0];
  },
};

const combinations = pairwise([
  Object.keys(failures),
  Object.keys(observers),
  Object.keys(callers),
] as const);

it.each(combinations)(
  'after %s, with %s, the stack names the function that %s',
  async (failure, observer, how) => {
    const call = await failures[failure]?.(observers[observer]?.() ?? {});
    const caller = callers[how] as Caller;
    const error = await caller(call as () => Promise<unknown>).then(
      (result) => (result as { readonly error?: unknown }).error,
      (reason: unknown) => reason,
    );
    const { name, message, stack } = error as Error;
    // Some compilers of tests number equal names.
    expect(stack).toMatch(/\n {4}at (?:async )?placeTheOrder\d* /);
    expect(stack?.startsWith(`${name}: ${message}\n    at `)).toBe(true);
  },
);

it('an error that an option of the caller throws stays as it is', async () => {
  const thrown = new RangeError('mine');
  const { stack } = thrown;
  const options = {
    get headers(): never {
      throw thrown;
    },
  };
  const client = createClient('https://payments.invalid');
  await expect(client.payments.create(order, options)).rejects.toBe(thrown);
  expect(thrown.stack).toBe(stack);
});
