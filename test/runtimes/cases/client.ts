import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { PaymentClient, type PaymentClientOptions, RequestTimeoutError } from 'merchant-payments';
import { type MockServer, startMockServer } from 'merchant-payments/mock-server';
import { equal, errorOf, failsWith, isTrue } from './assert.js';
import type { Case, CaseGroup } from './case.js';

const order = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };

/** What differs between runtimes. */
export interface ClientTraits {
  /** Of undici 8, where it runs. */
  readonly dispatcher: PaymentClientOptions['dispatcher'];
  /** How the client sends by default. */
  readonly ownTransport: 'undici' | 'fetch';
  /** What fetch lets the client know of a connection that never was. Deno's errors have no codes. */
  readonly unconnectedByFetch: 'not-sent' | 'unknown';
}

export function clientCases({
  dispatcher,
  ownTransport,
  unconnectedByFetch,
}: ClientTraits): CaseGroup {
  const own =
    ownTransport === 'undici'
      ? transportCases('', {}, 'not-sent')
      : transportCases('', {}, unconnectedByFetch);
  return {
    name: 'client',
    cases: [
      ...own,
      ...(ownTransport === 'undici' ? transportCases('fetch', { fetch }, unconnectedByFetch) : []),
      ...(dispatcher ? transportCases('a dispatcher of undici 8', { dispatcher }, 'not-sent') : []),
      {
        name: `sends by ${ownTransport} of itself`,
        run: () =>
          withMock(async (service) => {
            const original = globalThis.fetch;
            let fetched = 0;
            const counting = (...parameters: Parameters<typeof fetch>) => {
              fetched += 1;
              return original(...parameters);
            };
            globalThis.fetch = counting as typeof fetch;
            try {
              await withClient(service, {}, (client) => client.payments.create(order));
            } finally {
              globalThis.fetch = original;
            }
            equal(fetched, ownTransport === 'fetch' ? 1 : 0, 'calls of fetch');
            equal(service.payments.list().length, 1, 'payments');
          }),
      },
    ],
  };
}

function transportCases(
  label: string,
  transport: Partial<PaymentClientOptions>,
  unconnected: ClientTraits['unconnectedByFetch'],
): readonly Case[] {
  const use = <Result>(
    act: (client: PaymentClient, service: MockServer) => Promise<Result>,
    options: Partial<PaymentClientOptions> = {},
  ) =>
    withMock((service) =>
      withClient(service, { maxRetries: 0, ...transport, ...options }, (client) =>
        act(client, service),
      ),
    );

  const cases: Case[] = [
    {
      name: 'creates a payment',
      run: () =>
        use(async (client, service) => {
          const reference = 'order 🧾 č "quoted"';
          const { payment, response } = await client.payments.create(
            { ...order, merchantPaymentReference: reference },
            { extraBody: { note: 'é' } },
          );
          equal([response.status, response.attempts], [201, 1]);
          equal(payment.merchantPaymentReference, reference);
          equal(
            service.payments.get(payment.referenceNumber ?? '')?.merchantPaymentReference,
            reference,
          );
          const [request] = service.requests;
          const body = { ...order, merchantPaymentReference: reference, note: 'é' };
          equal(sorted(request?.json), sorted(body), 'body on the wire');
        }),
    },
    {
      name: `knows what a refused connection sent, and tries again when nothing: ${unconnected}`,
      async run() {
        const lines: string[] = [];
        const log = (...parts: unknown[]) => void lines.push(JSON.stringify(parts));
        const logger = { debug: log, info: log, warn: log, error: log };
        const service = { url: await refusedUrl(), apiKey: 'key', apiSecret: 'secret' };
        await withClient(service, { ...transport, maxRetries: 1, logger }, async (client) => {
          await failsWith(() => client.payments.create(order), 'CONNECTION_FAILED', unconnected);
        });
        const attempts = lines.filter((line) => line.includes('"attempt":2'));
        equal(attempts.length, unconnected === 'not-sent' ? 1 : 0, `second attempts in ${lines}`);
      },
    },
    {
      name: `knows what a name without an address sent: ${unconnected}`,
      async run() {
        const service = { url: 'https://payments.invalid', apiKey: 'key', apiSecret: 'secret' };
        await withClient(service, { ...transport, maxRetries: 0 }, async (client) => {
          await failsWith(() => client.payments.create(order), 'CONNECTION_FAILED', unconnected);
        });
      },
    },
    ...(['reset-before-headers', 'lost-answer'] as const).map((type) => ({
      name: `sends once when the connection breaks (${type}), new or kept alive: unknown`,
      run: () =>
        use(
          async (client, service) => {
            // The first on a new connection, the third on one that was used before.
            service.faults.add({ on: 'request', type });
            await failsWith(() => client.payments.create(order), 'CONNECTION_FAILED', 'unknown');
            equal(service.requests.length, 1, 'requests on a new connection');
            await client.payments.create(order);
            service.faults.add({ on: 'request', type });
            await failsWith(() => client.payments.create(order), 'CONNECTION_FAILED', 'unknown');
            equal(service.requests.length, 3, 'requests after one on a kept connection broke');
            equal(service.payments.list().length, type === 'lost-answer' ? 3 : 1, 'payments');
          },
          // What is retried by the client itself would be counted too.
          { maxRetries: 2 },
        ),
    })),
    ...(['end', 'reset'] as const).map((farewell) => ({
      name: `sends once when a kept connection is closed (${farewell}) with the request on it: unknown`,
      async run() {
        const ports: unknown[] = [];
        const server = await listen((request, response) => {
          request.resume().on('end', () => {
            const { socket } = request;
            ports.push(socket.remotePort);
            if (ports.length === 1) response.writeHead(201).end('{}');
            else if (farewell === 'end') socket.end();
            else socket.resetAndDestroy();
          });
        });
        const service = { url: urlOf(server), apiKey: 'key', apiSecret: 'secret' };
        try {
          await withClient(service, { ...transport, maxRetries: 2 }, async (client) => {
            await client.payments.create(order);
            // Node's fetch takes a connection back some turns of the event loop after the answer.
            for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
            await failsWith(() => client.payments.create(order), 'CONNECTION_FAILED', 'unknown');
          });
        } finally {
          await close(server);
        }
        equal(ports.length, 2, 'requests that the server saw');
        // On Bun each creation has its own connection, since Bun sends again on a new one what a kept one has lost.
        equal(ports[0] === ports[1], !('Bun' in globalThis), 'one connection for both');
      },
    })),
    {
      name: 'knows that a 2xx whose body is lost was accepted: accepted',
      run: () =>
        use(
          async (client, service) => {
            service.faults.add({ on: 'request', type: 'truncated-body' });
            await failsWith(() => client.payments.create(order), 'RESPONSE_UNUSABLE', 'accepted');
            equal([service.requests.length, service.payments.list().length], [1, 1]);
          },
          { maxRetries: 2 },
        ),
    },
    {
      name: 'times out at the deadline: unknown',
      run: () =>
        use(
          async (client, service) => {
            // undici is loaded and the connection open: what passes is the time of the request.
            await client.payments.create(order);
            service.faults.add({ on: 'request', type: 'hang' });
            const call = client.payments.create(order, { timeoutMs: 1_000 });
            const error = await failsWith(() => call, 'TIMEOUT', 'unknown');
            isTrue(error instanceof RequestTimeoutError, 'a RequestTimeoutError');
            equal(service.requests.length, 2, 'requests');
          },
          { maxRetries: 2 },
        ),
    },
    {
      name: 'stops when it is aborted: unknown after it was sent, not-sent before',
      run: () =>
        use(
          async (client, service) => {
            service.faults.add({ on: 'request', type: 'hang' });
            const controller = new AbortController();
            const call = client.payments.create(order, { signal: controller.signal });
            const failure = failsWith(() => call, 'ABORTED', 'unknown');
            await service.waitForRequest({});
            controller.abort();
            await failure;
            const signal = AbortSignal.abort();
            await failsWith(() => client.payments.create(order, { signal }), 'ABORTED', 'not-sent');
            equal(service.requests.length, 1, 'requests');
          },
          { maxRetries: 2 },
        ),
    },
    {
      name: 'does not follow a redirect: unknown',
      async run() {
        const paths: (string | undefined)[] = [];
        const server = await listen((request, response) => {
          paths.push(request.url);
          request.resume().on('end', () => response.writeHead(307, { location: '/other' }).end());
        });
        const service = { url: urlOf(server), apiKey: 'key', apiSecret: 'secret' };
        try {
          await withClient(service, transport, async (client) => {
            const error = await failsWith(
              () => client.payments.create(order),
              'API_ERROR',
              'unknown',
            );
            equal(error['httpStatus'], 307);
          });
        } finally {
          await close(server);
        }
        equal(paths, ['/api/payments']);
      },
    },
    {
      name: 'shows no secret when it or its errors are printed',
      run: () =>
        use(
          async (client, service) => {
            service.faults.add({ on: 'request', type: 'lost-answer' });
            const broken = await errorOf(() => client.payments.create(order));
            service.faults.add({ on: 'request', type: 'unauthorized' });
            const refused = await errorOf(() => client.payments.create(order));
            const { apiKey, apiSecret } = service;
            const planted = [
              apiSecret,
              btoa(`${apiKey}:${apiSecret}`),
              order.merchantPaymentReference,
            ];
            for (const value of [client, client.payments, broken, refused]) {
              const seen = printed(value);
              for (const secret of planted) {
                isTrue(!seen.includes(secret), `no ${secret.slice(0, 6)}… in ${value}`);
              }
            }
            isTrue(printed(client).includes(service.url), 'the base URL is printed');
          },
          { maxRetries: 0 },
        ),
    },
    {
      name: 'sends nothing after it is closed: not-sent',
      run: () =>
        use(async (client, service) => {
          await client.payments.create(order);
          await client.close();
          await failsWith(() => client.payments.create(order), 'CONNECTION_FAILED', 'not-sent');
          equal(service.requests.length, 1, 'requests');
        }),
    },
  ];
  return label === ''
    ? cases
    : cases.map(({ name, run }) => ({ name: `by ${label}: ${name}`, run }));
}

interface Printers {
  readonly Bun?: { inspect(value: unknown, options?: object): string };
  readonly Deno?: { inspect(value: unknown, options?: object): string };
}

/** What can be seen of a value: also by the printers of Bun and Deno, which are not Node's. */
function printed(value: unknown): string {
  const { Bun, Deno } = globalThis as Printers;
  const deep = { depth: 20, showHidden: true };
  const seen = [String(value), JSON.stringify(value), inspect(value), inspect(value, deep)];
  seen.push(inspect(value, { ...deep, customInspect: false }));
  for (const printer of [Bun, Deno]) {
    if (printer !== undefined) seen.push(printer.inspect(value), printer.inspect(value, deep));
  }
  if (value instanceof Error) seen.push(value.stack ?? '', printed(value.cause));
  return seen.join('\n');
}

async function withMock<Result>(act: (service: MockServer) => Promise<Result>): Promise<void> {
  const service = await startMockServer();
  try {
    await act(service);
    equal(service.faults.pending(), [], 'faults that did not happen');
  } finally {
    await service.close();
  }
}

async function withClient<Result>(
  { url, apiKey, apiSecret }: Pick<MockServer, 'url' | 'apiKey' | 'apiSecret'>,
  options: Partial<PaymentClientOptions>,
  act: (client: PaymentClient) => Promise<Result>,
): Promise<Result> {
  const client = new PaymentClient({ baseUrl: url, apiKey, apiSecret, ...options });
  try {
    return await act(client);
  } finally {
    await client.close();
  }
}

async function listen(listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** A URL whose server has stopped listening. */
async function refusedUrl(): Promise<string> {
  const server = await listen(() => {});
  const url = urlOf(server);
  await close(server);
  return url;
}

function sorted(value: unknown): unknown {
  return Object.entries(value as object).sort(([one], [other]) => (one < other ? -1 : 1));
}
