import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import { RetryLaterError } from '../../../src/errors.js';
import { callbackPlugin } from '../../../src/fastify/callback-plugin.js';
import * as web from '../../../src/fetch/callback-handler.js';
import * as lambda from '../../../src/lambda/callback-handler.js';
import * as node from '../../../src/node/callback-handler.js';
import { createCallbackReceiver } from '../../../src/receiver/callback-receiver.js';
import { memoryStore } from '../../../src/store/memory.js';
import { now } from '../../callback/sample-callback.js';
import { customer, signingBytes, signingKey, signingText } from '../planted.js';
import type { See, Walk, Walks } from '../watch.js';
import { type PlantedSecret, refusals, schemaThat, signed } from './signed-callback.js';

interface Posted {
  readonly method: string;
  readonly rawBody: string | Uint8Array;
  readonly headers: Record<string, string | undefined>;
}

/** How a receiver is given a request. What it answers, and what it is, is looked at. */
interface Receiving {
  post(request: Posted): Promise<unknown>;
  /** What a developer may print. */
  readonly printed: unknown;
}

type Start = (see: See, options: never) => Receiving | Promise<Receiving>;

const startReceiver: Start = (_see, options) => {
  const receiver = createCallbackReceiver(options);
  return { printed: receiver, post: (request) => receiver.receive(request as never) };
};

const startNode: Start = async (see, options) => {
  const handler = node.callbackHandler(options);
  const server = createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    printed: handler,
    async post({ method, rawBody, headers }) {
      const sent = { 'content-type': 'application/json', ...withoutAbsent(headers) };
      const body = method === 'POST' && { body: rawBody };
      const init = { method, headers: sent, ...body } as RequestInit;
      const response = await fetch(`http://127.0.0.1:${port}/`, init);
      see('the headers of the answer', [...response.headers]);
      return [response.status, await response.text()];
    },
  };
};

function withoutAbsent(headers: Posted['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  );
}

/** What an adapter can be sent: bytes, and headers of one value. */
function requests(secret: PlantedSecret): Posted[] {
  const sendable = refusals(secret).flatMap(([, request]): Posted[] => {
    const { rawBody, headers } = Object(request) as Partial<Posted>;
    if (typeof rawBody !== 'string' && !ArrayBuffer.isView(rawBody)) return [];
    if (typeof headers !== 'object' || Array.isArray(headers)) return [];
    return [{ method: 'POST', rawBody, headers: headers as Posted['headers'] }];
  });
  return [
    ...sendable.filter(({ headers }) => Object.values(headers).every(isHeaderText)),
    { method: 'POST', ...signed(secret) },
    { method: 'POST', ...signed(secret) },
    { method: 'GET', ...signed(secret) },
    { method: 'POST', ...signed(secret, { rawBody: `${' '.repeat(70_000)}"${customer}"` }) },
  ];
}

const isHeaderText = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && /^[ -~]*$/.test(value));

/** Every request with what it is answered, first with listeners, then with the package's own reports. */
const everyReply =
  (start: Start, secret: PlantedSecret = signingText): Walk =>
  async (see) => {
    const told = (what: string) => (error: unknown) => see(what, error);
    const quiet = { now, signingSecret: secret, store: memoryStore(), onPayment: () => undefined };
    const reporting = {
      ...quiet,
      onError: told('what onError receives'),
      onRejected: told('what onRejected receives'),
    };
    for (const options of [reporting, quiet]) {
      const receiving = await start(see, options as never);
      see('the handler', receiving.printed);
      for (const request of requests(secret)) see('the reply', await receiving.post(request));
      see('the handler after its use', receiving.printed);
    }
  };

const failingParts =
  (start: Start): Walk =>
  async (see) => {
    const onError = (error: unknown) => see('what onError receives', error);
    // First by the package's own report.
    for (const options of failing.flatMap((one) => [one, { onError, ...one }])) {
      const all = { now, signingSecret: signingText, onPayment: () => undefined, ...options };
      const receiving = await start(see, all as never);
      const reply = await receiving.post({ method: 'POST', ...signed(signingText) });
      see(`the reply when ${Object.keys(options).join(' and ')} fails`, reply);
    }
  };

const fail = () => {
  throw new Error('it failed');
};

const failing: readonly Record<string, unknown>[] = [
  { onPayment: fail },
  { onPayment: () => Promise.reject(new AggregateError([new Error('a'), 'b'], 'both failed')) },
  { onPayment: () => Promise.reject({ code: 'NONE' }) },
  { onPayment: () => new Promise<never>(() => undefined), onPaymentTimeoutMs: 1 },
  { onPayment: fail, onError: fail },
  { store: { process: fail } },
  { store: { process: () => Promise.resolve(signingText) } },
  { store: { process: () => Promise.resolve('processed') } },
  { recordSchema: schemaThat(fail) },
  { recordSchema: schemaThat(() => ({ issues: [{ message: 'm' }] })) },
  { signingSecret: () => [signingText, ` ${signingText}`] },
  { signingSecret: () => ({ secret: signingText }) },
  { signingSecret: () => Promise.reject(new Error(`no vault for ${signingText}`)) },
];

export const receiverWalks: Walks = {
  './receiver createCallbackReceiver': {
    'with the secret as text': everyReply(startReceiver),
    'with the secret as bytes': everyReply(startReceiver, signingBytes),
    'with the secret as a KeyObject': everyReply(startReceiver, signingKey),
    "when what is the merchant's fails": failingParts(startReceiver),
    'for what no adapter can send': async (see) => {
      for (const onError of [undefined, (error: unknown) => see('what onError receives', error)]) {
        const receiver = createCallbackReceiver({
          now,
          signingSecret: signingText,
          onPayment: () => undefined,
          ...(onError !== undefined && { onError }),
        });
        for (const [, request] of refusals(signingText)) {
          const reply = await receiver
            .receive({ method: 'POST', ...Object(request) } as never)
            .catch((error: unknown) => error);
          see('the reply', reply);
        }
      }
    },
    'when a payment stays busy': async (see) => {
      vi.useFakeTimers({ toFake: ['performance'] });
      onTestFinished(() => void vi.useRealTimers());
      const receiver = createCallbackReceiver({
        now: () => now() + 700_000,
        toleranceSeconds: 3_600,
        signingSecret: signingText,
        store: { process: async () => ({ outcome: 'busy' }) },
        onError: (error) => see('what onError receives', error),
        onPayment: () => undefined,
      });
      for (let count = 0; count < 2; count += 1) {
        see('the reply', await receiver.receive({ method: 'POST', ...signed(signingText) }));
        vi.advanceTimersByTime(60_000);
      }
    },
    'in what a default report of a payment says': async (see) => {
      see('an error', new RetryLaterError('the order is not stored', { cause: new Error('no') }));
      const store = memoryStore();
      const receiver = createCallbackReceiver({
        now,
        signingSecret: () => signingText,
        store,
        onPayment: (callback, context) => {
          see('the callback', callback, 'the payment of a callback');
          see('the context', [context.tx, context.signal.aborted]);
          throw new Error('the order is locked', { cause: new Error('deadlock detected') });
        },
      });
      see('the reply', await receiver.receive({ method: 'POST', ...signed(signingText) }));
      see('the store', store);
    },
  },
  './node callbackHandler': {
    'in every reply': everyReply(startNode),
    "when what is the merchant's fails": failingParts(startNode),
  },
  './fetch callbackHandler': {
    'when a body breaks off': async (see) => {
      const handler = web.callbackHandler({
        now,
        signingSecret: signingText,
        onPayment: () => undefined,
        onRejected: (error) => see('what onRejected receives', error),
      });
      see('the handler', handler);
      const body = new ReadableStream({
        pull(controller) {
          controller.enqueue(new TextEncoder().encode(customer));
          controller.error(new Error(customer));
        },
      });
      const { headers } = signed(signingText);
      const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
      await handler(new Request('http://shop.example/', init));
    },
  },
  './lambda callbackHandler': {
    'when it is printed': (see) =>
      see(
        'the handler',
        lambda.callbackHandler({ signingSecret: signingText, onPayment: () => undefined }),
      ),
  },
  './fastify callbackPlugin': { 'when it is printed': (see) => see('the plugin', callbackPlugin) },
};
