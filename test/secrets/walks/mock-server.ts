import {
  createManualClock,
  createMockService,
  type MockService,
  startMockServer,
} from '../../../src/mock-server/index.js';
import { manualClock } from '../../../src/mock-server/state/clock.js';
import { paymentServiceHandlers } from '../../../src/msw/index.js';
import { failureOf } from '../../callback/sample-callback.js';
import { startEndpoint } from '../../mock-server/merchant-endpoint.js';
import {
  authorization,
  customer,
  mockApiKey,
  mockApiSecret,
  mockSigningSecret,
} from '../planted.js';
import type { See, Walks } from '../watch.js';

const credentials = {
  apiKey: mockApiKey,
  apiSecret: mockApiSecret,
  signingSecret: mockSigningSecret,
};
const basic = `Basic ${Buffer.from(`${mockApiKey}:${mockApiSecret}`).toString('base64')}`;

// All that end by themselves.
const requestFaults = [
  ...(['unauthorized', 'rate-limit', 'client-error', 'server-error', 'html-error'] as const),
  ...(['malformed-json', 'truncated-body', 'empty-body', 'lost-answer'] as const),
  ...(['reset-before-headers', 'reset-in-body'] as const),
];
const callbackFaults = ['duplicate', 'drop', 'tampered-body', 'wrong-secret'] as const;

const creation = JSON.stringify({
  merchantPaymentReference: customer,
  amount: 5,
  currency: 'EUR',
  note: customer,
});

/** Whatever the mock does, of what it is asked in every way, and all it remembers of that. */
async function useService(see: See, service: MockService, base: string): Promise<void> {
  const call = async (init: RequestInit & { path?: string }): Promise<void> => {
    const answer = await service
      .fetch(new Request(`${base}${init.path ?? '/api/payments'}`, { method: 'POST', ...init }))
      .then(async (response) => [
        response.status,
        [...response.headers],
        await response.text().catch((error: unknown) => error),
      ])
      .catch((error: unknown) => error);
    // A payment is answered with what it was created from.
    see('the answer', answer, "the mock's records");
    if (answer instanceof Error) see('the connection’s loss', answer);
  };
  const headers = { authorization: basic, 'content-type': 'application/json' };
  await using endpoint = await startEndpoint((count) => (count % 2 === 0 ? 200 : 500));
  service.callbackUrl = endpoint.url;
  service.subscribe((event) => see(`the ${event.type} event`, event, "the mock's records"));

  await call({ headers, body: creation });
  for (const other of [authorization, `Bearer ${mockApiSecret}`, mockApiSecret, '']) {
    await call({ headers: { ...headers, authorization: other }, body: creation });
  }
  await call({ headers: { ...headers, cookie: mockApiSecret }, body: `${customer}{` });
  await call({ headers: { ...headers, 'content-type': 'text/plain' }, body: creation });
  await call({ headers, body: '['.repeat(9) });
  await call({ headers, method: 'PUT', body: creation });
  await call({ headers, path: '/api/other', body: creation });
  for (const type of requestFaults) {
    service.faults.add({ on: 'request', type });
    await call({ headers, body: creation });
  }
  const [payment] = service.payments.list();
  const id = payment?.referenceNumber ?? '';
  for (const type of callbackFaults) {
    service.faults.add({ on: 'callback', type });
    see('the pending faults', service.faults.pending());
    const delivery = await service.setStatus(id, 'paid');
    see('the delivery', delivery, "the mock's records");
  }
  for (const { headers, rawBody } of endpoint.received) {
    see('the headers of a callback', headers);
    see('the body of a callback', rawBody.toString(), "the mock's records");
  }
  see('the payments', service.payments.list(), "the mock's records");
  see('the requests', service.requests, "the mock's records");
  see('the deliveries', service.deliveries, "the mock's records");
  const inTime = { timeoutMs: 0 };
  const errors = {
    waitForDelivery: () => service.waitForDelivery({ status: 'none' }, inTime),
    waitForRequest: () => service.waitForRequest({ method: 'PUT', path: '/none' }, inTime),
    setStatus: () => service.setStatus('none', 'paid'),
    resend: () => service.resend('none'),
    'a fault': () => service.faults.add({ on: 'callback', type: mockSigningSecret } as never),
    callbackUrl: () => {
      service.callbackUrl = `ftp://user:${mockApiSecret}@example.com`;
    },
    subscribe: () => service.subscribe(mockSigningSecret as never),
  };
  for (const [what, run] of Object.entries(errors)) {
    see(`the error of ${what}`, await failureOf(run));
  }
}

async function refusedOptions(see: See, create: (options: never) => unknown): Promise<void> {
  const wrong: object[] = [
    { apiKey: `${mockApiKey}:${mockApiSecret}` },
    { apiSecret: { mockApiSecret } },
    { signingSecret: ` ${mockSigningSecret}` },
    { callbackUrl: `http://user:${mockApiSecret}@127.0.0.1/` },
    { seed: mockApiSecret },
  ];
  for (const options of wrong) {
    const given = { ...credentials, ...options } as never;
    see(`the error for ${Object.keys(options)}`, await failureOf(() => create(given)));
  }
}

export const mockWalks: Walks = {
  './mock-server createMockService': {
    'while it is used': async (see) => {
      await using service = createMockService({ ...credentials, clock: createManualClock() });
      see('the new service', service, "the mock's credentials");
      expectHidden(see, service);
      await useService(see, service, 'http://service.example');
      expectHidden(see, service);
      const clock = createManualClock();
      manualClock(clock, 'clock').setTimeout(
        async () => see('the error of a busy clock', await failureOf(() => clock.advance(1))),
        1,
      );
      await clock.advance(1);
      await service.close();
      see('the error after close()', await failureOf(() => service.setStatus('a', 'b')));
    },
    'with options that can not be right': (see) => refusedOptions(see, createMockService),
  },
  './mock-server startMockServer': {
    'while it is used': async (see) => {
      await using server = await startMockServer({ ...credentials, clock: createManualClock() });
      expectHidden(see, server);
      await useService(see, server, server.url);
      expectHidden(see, server);
      const { port } = new URL(server.url);
      const again = () => startMockServer({ ...credentials, port: Number(port) });
      see('the error of a port that is taken', await failureOf(again));
      // TEST-NET-1: no machine has it.
      const elsewhere = () => startMockServer({ ...credentials, host: '192.0.2.1' });
      see('the error of a host that is not this machine', await failureOf(elsewhere));
    },
    'with options that can not be right': (see) => refusedOptions(see, startMockServer),
  },
  './msw paymentServiceHandlers': {
    'when they are printed and when they are refused': async (see) => {
      const service = createMockService(credentials);
      const handlers = paymentServiceHandlers({ baseUrl: 'https://pay.example', service });
      see(
        'the handlers',
        handlers.map(({ info }) => info),
      );
      see(
        'handlers of their own service',
        paymentServiceHandlers(credentials).map(({ info }) => info),
      );
      for (const options of [{ baseUrl: mockApiSecret }, { service: mockApiSecret }]) {
        const error = await failureOf(() => paymentServiceHandlers(options as never));
        see(`the error for ${Object.keys(options)}`, error);
      }
      await service.close();
    },
  },
};

/** The getters are an exception; what prints the object as a whole is none. */
function expectHidden(see: See, service: MockService): void {
  see('its JSON', JSON.stringify({ service }));
  see('its fields', Object.entries(service));
}
