import { type AddressInfo, connect, createServer } from 'node:net';
import { createCallbackVerifier, verifyCallback } from '../../src/callback/verify.js';
import { verifyCallback as verifyOnWeb } from '../../src/callback/web/verify.js';
import { PaymentClient } from '../../src/client/payment-client.js';
import { RetryLaterError } from '../../src/errors.js';
import { callbackHandler as fetchHandler } from '../../src/fetch/callback-handler.js';
import { callbackHandler as lambdaHandler } from '../../src/lambda/callback-handler.js';
import { startMockServer } from '../../src/mock-server/server.js';
import { createMockService } from '../../src/mock-server/service.js';
import { createManualClock } from '../../src/mock-server/state/clock.js';
import { paymentServiceHandlers } from '../../src/msw/handlers.js';
import { instrumentMerchantPayments } from '../../src/opentelemetry/instrument.js';
import { fieldOfAny } from '../../src/protocol/own-fields.js';
import { createCallbackReceiver } from '../../src/receiver/callback-receiver.js';
import type { PaymentContext } from '../../src/receiver/options.js';
import type { CallbackStore } from '../../src/store/callback-store.js';
import { diagnoseCallback } from '../../src/testing/diagnosis/diagnose-callback.js';
import { resolveCheckOptions } from '../../src/testing/endpoint-check/options.js';
import { signCallback } from '../../src/testing/sign-callback.js';
import { now, SECRET, sampleRecord, sampleRequest } from '../callback/sample-callback.js';
import { pollutedUntil } from './pollution.js';
import { storeFunctions } from './store-functions.js';

// Neither fits an option that is read: at least one of them shows in an error, in what is sent or in the result.
const PLANTED: readonly (readonly [string, unknown])[] = [
  ['a number', 7],
  // As an object of any library: each of its fields is a function.
  ['a function', new Proxy(() => 'planted', { get: () => () => 'planted' })],
];

const order = { merchantPaymentReference: 'order-1', amount: 2500, currency: 'EUR' };
const credentials = { baseUrl: 'https://pay.example', apiKey: 'key-1', apiSecret: 'secret-1' };

/** A `fetch` that keeps what it is to send. */
function recording(status: number) {
  const sent: unknown[] = [];
  const response = new Response('{"code":"NO"}', { status });
  const fetch: typeof globalThis.fetch = async (url, init) => {
    sent.push([String(url), fieldsOf(init, 'method', 'headers', 'body')]);
    return response;
  };
  return { sent, fetch };
}

const fieldsOf = (value: unknown, ...fields: readonly string[]): unknown =>
  fields.map((field) => fieldOfAny(value, field));

/** What a function returned, or the error that it threw. */
const outcomeOf = async (run: () => unknown): Promise<unknown> => {
  try {
    return await run();
  } catch (error) {
    const own = ['message', 'code', 'option', 'requestOutcome', 'safeToRetry', 'issues', 'cause'];
    return [String(error), fieldsOf(error, ...own)];
  }
};

const options = { signingSecret: SECRET, now };

/** Receives a callback and tells what came of it. */
async function receiveBy(
  receive: (options: {
    signingSecret: string;
    now: () => number;
    onPayment: (callback: object, context: PaymentContext<undefined>) => void;
    onError: (error: unknown) => void;
    onRejected: (error: unknown) => void;
  }) => Promise<unknown>,
): Promise<unknown> {
  const told: unknown[] = [];
  const reply = await receive({
    ...options,
    onPayment: (callback, { tx, current, secondPayment }) =>
      void told.push(callback, tx, current, secondPayment),
    onError: (error) => void told.push(String(error)),
    onRejected: (error) => void told.push(String(error)),
  });
  return [reply, told];
}

/** Prepares a call, without anything planted, and returns it. */
type Prepare = () => (() => unknown) | Promise<() => unknown>;

let service: Promise<{ readonly url: string; readonly requests: readonly string[] }> | undefined;

/** A server that refuses every request, and keeps their bytes. */
const startService = () => {
  service ??= new Promise((resolve) => {
    const requests: string[] = [];
    const server = createServer((socket) => {
      const refusal = 'HTTP/1.1 500 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';
      const chunks: Buffer[] = [];
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        chunks.push(chunk);
        const text = Buffer.concat(chunks).toString();
        if (!text.includes('"EUR"') && !text.includes('"paid"')) return;
        requests.push(text);
        socket.end(refusal);
      });
    });
    server.unref().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      resolve({ url: `http://127.0.0.1:${port}/`, requests });
    });
  });
  return service;
};

/** Sends bytes, and resolves with those that come back. */
const exchange = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });

const withoutTimes = (text: string): string =>
  text.replace(/[\d-]{10}T[\d:.]+|Date: .*|host: .*/gi, '');

const create =
  (status: number, given: object, callOptions?: object): Prepare =>
  () => {
    const { sent, fetch } = recording(status);
    return async () => {
      const client = new PaymentClient({ ...credentials, fetch });
      const result = await outcomeOf(() => client.payments.create(given as never, callOptions));
      return [result, sent];
    };
  };

const env = {
  MERCHANT_PAYMENTS_BASE_URL: credentials.baseUrl,
  MERCHANT_PAYMENTS_API_KEY: 'key-1',
  MERCHANT_PAYMENTS_API_SECRET: 'secret-1',
};

/** Every public function that takes options, with as few of them as it can do with. */
export const publicFunctions: Readonly<Record<string, Prepare>> = {
  'payments.create answered with 500': create(500, order),
  'payments.create with options': create(201, order, { extraBody: { note: { text: 'x' } } }),
  'payments.create without a currency': create(201, { ...order, currency: undefined }),
  'payments.create over a connection': async () => {
    const { url, requests } = await startService();
    return async () => {
      await using client = new PaymentClient({ ...credentials, baseUrl: url });
      const before = requests.length;
      return [await outcomeOf(() => client.payments.create(order)), requests.slice(before)];
    };
  },
  'fromEnv and request': () => {
    const { sent, fetch } = recording(200);
    return async () => {
      const client = PaymentClient.fromEnv({ fetch }, env);
      return [await outcomeOf(() => client.request({ method: 'GET', path: '/x' }, {})), sent];
    };
  },
  'new PaymentClient without https': () => () =>
    new PaymentClient({ ...credentials, baseUrl: 'http://pay.example' }),
  verifyCallback: () => {
    const request = sampleRequest();
    return () => verifyCallback(request, options);
  },
  'verifyCallback of an old callback': () => {
    const request = sampleRequest();
    const at = now() + 400_000;
    return () => verifyCallback(request, { ...options, now: () => at });
  },
  'verifyCallback without headers': () => {
    const request = { ...sampleRequest(), headers: {} };
    return () => createCallbackVerifier(options)(request);
  },
  'verifyCallback on WebCrypto': () => {
    const request = sampleRequest();
    return () => verifyOnWeb(request, options);
  },
  'the receiver': () => {
    const request = { method: 'POST', ...sampleRequest() };
    return () => receiveBy((given) => createCallbackReceiver(given).receive(request));
  },
  'the receiver with a store that says little': () => {
    const request = { method: 'POST', ...sampleRequest() };
    const process: CallbackStore['process'] = async (_change, work) => {
      await work({ tx: undefined, signal: AbortSignal.abort() } as never);
      return 'processed';
    };
    return () =>
      receiveBy((given) =>
        createCallbackReceiver({ ...given, store: { process } }).receive(request),
      );
  },
  'the fetch adapter': () => {
    const { rawBody, headers } = sampleRequest();
    const request = new Request('https://shop.example', {
      method: 'POST',
      body: String(rawBody),
      headers,
    });
    return () => receiveBy(async (given) => (await fetchHandler(given)(request)).status);
  },
  'the lambda adapter': () => {
    const { rawBody, headers } = sampleRequest();
    const event = { requestContext: { http: { method: 'POST' } }, headers, body: String(rawBody) };
    return () => receiveBy((given) => lambdaHandler(given)(event, {}));
  },
  signCallback: () => {
    const payment = sampleRecord();
    return () => signCallback({ payment, signingSecret: SECRET, timestamp: 1_769_860_805 });
  },
  diagnoseCallback: () => {
    const request = sampleRequest();
    return () => [
      diagnoseCallback(request, options),
      diagnoseCallback(request, { ...options, signingSecret: 'other-secret' }),
    ];
  },
  checkCallbackEndpoint: () => () => {
    const url = 'http://127.0.0.1:1/callbacks';
    const {
      clock: _clock,
      signingKey: _key,
      ...resolved
    } = resolveCheckOptions(url, {
      signingSecret: SECRET,
    });
    return resolved;
  },
  'the mock service': () => {
    const request = new Request('https://pay.example/api/payments', {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('a:b')}`, 'content-type': 'application/json' },
      body: JSON.stringify(order),
    });
    return async () => {
      const clock = createManualClock({ now: 1_769_860_805_000 });
      const service = createMockService({ seed: 5, clock });
      const answer = await service.fetch(request);
      const [payment] = service.payments.list();
      const number = payment?.referenceNumber as string;
      service.faults.add({ on: 'callback', type: 'duplicate', match: { status: 'paid' } });
      const told = [
        await answer.text(),
        payment,
        await service.setStatus(number, 'paid'),
        await service.resend(number, {}),
        await service.waitForRequest({}),
        await outcomeOf(() => service.waitForDelivery({ attempt: 1 }, { timeoutMs: 0 })),
        service.faults.pending(),
        service.callbackUrl,
      ];
      await service.close();
      return told;
    };
  },
  startMockServer: async () => {
    const { url, requests } = await startService();
    return async () => {
      await using server = await startMockServer({ seed: 5, callbackUrl: url });
      const before = requests.length;
      const { host, port } = new URL(server.url);
      const body = JSON.stringify(order);
      const authorization = `Basic ${btoa(`${server.apiKey}:${server.apiSecret}`)}`;
      const lines = ['POST /api/payments HTTP/1.1', `host: ${host}`, 'connection: close'];
      lines.push(`authorization: ${authorization}`, 'content-type: application/json');
      const text = `${lines.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      const answer = await exchange(Number(port), text);
      const [payment] = server.payments.list();
      const { state } = await server.setStatus(payment?.referenceNumber as string, 'paid');
      const sent = requests.slice(before).map((one) => one.replace(/(?<=x-\w+: ).*/gi, ''));
      return [withoutTimes(answer), state, sent.map(withoutTimes)];
    };
  },
  paymentServiceHandlers: () => () =>
    paymentServiceHandlers({ baseUrl: 'https://pay.example' }).map(({ info }) => String(info.path)),
  instrumentMerchantPayments: () => {
    // What another file has registered: OpenTelemetry itself reads a missing part of it from the prototype.
    Reflect.deleteProperty(globalThis, Symbol.for('opentelemetry.js.api.1'));
    return () => instrumentMerchantPayments({}).disable();
  },
  ...storeFunctions,
  RetryLaterError: () => () => {
    const error = new RetryLaterError('later');
    return fieldsOf(error, 'retryAfterSeconds', 'cause', 'requestOutcome');
  },
};

// A text, since a comparison would read what is planted.
const toText = (value: unknown): string =>
  JSON.stringify(value, (_key, field) => (field === undefined ? 'undefined' : field)) ??
  'undefined';

// Sockets and streams of Node and undici read these of plain objects that they make themselves, and importing undici in
// a test reads `error`. With each, nothing is sent.
const OF_SOCKETS = [
  ...['connect', 'destroy', 'encoding', 'error', 'path', 'read', 'reset', 'signal', 'timeout'],
  'write',
  // Events of streams, whose listeners are in plain objects.
  ...['close', 'data', 'drain', 'end', 'finish', 'pause', 'pipe', 'readable', 'resume', 'upgrade'],
];

// PGlite's messages are plain objects, of which it reads this.
const OF_PGLITE = ['statement'];

const usesSockets = (what: string): boolean =>
  what === 'startMockServer' || what.endsWith('over a connection');

function firstDifference(found: string, expected: string): string {
  let at = 0;
  while (found[at] === expected[at]) at += 1;
  const shown = (text: string): string => text.slice(Math.max(0, at - 60), at + 140);
  return `${shown(found)}\n  in place of: ${shown(expected)}`;
}

/** The names with which the function does something else, and what. */
export async function findDifferences(
  what: string,
  all: readonly string[],
): Promise<readonly string[]> {
  const prepare = publicFunctions[what] as Prepare;
  const others = usesSockets(what) ? OF_SOCKETS : what === 'postgresStore' ? OF_PGLITE : [];
  const names = all.filter((name) => !others.includes(name));
  const textOf = async (run: () => unknown) => toText(await outcomeOf(run));
  const expected = await textOf(await prepare());
  const differing: string[] = [];
  for (const name of names) {
    for (const [kind, value] of PLANTED) {
      const run = await prepare();
      const found = await pollutedUntil(name, value, () => textOf(run));
      if (found !== expected)
        differing.push(`${name}: ${kind}: ${firstDifference(found, expected)}`);
    }
  }
  return differing;
}
