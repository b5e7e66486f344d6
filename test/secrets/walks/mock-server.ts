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
import type { See, Walk, Walks } from '../watch.js';

const credentials = {
  apiKey: mockApiKey,
  apiSecret: mockApiSecret,
  signingSecret: mockSigningSecret,
};
const basic = `Basic ${Buffer.from(`${mockApiKey}:${mockApiSecret}`).toString('base64')}`;
const json = { authorization: basic, 'content-type': 'application/json' };
const creation = JSON.stringify({
  merchantPaymentReference: customer,
  amount: 5,
  currency: 'EUR',
  note: customer,
});

/** A creation, with the mock's credentials and with a merchant's own, which went to it by mistake. */
const requests: readonly RequestInit[] = [
  { headers: json, body: creation },
  ...[authorization, `Bearer ${mockApiSecret}`, ''].map((other) => ({
    headers: { ...json, authorization: other },
    body: creation,
  })),
  { headers: { ...json, cookie: mockApiSecret }, body: `${customer}{` },
  { headers: json, method: 'PUT', body: creation },
];

/** Whatever the mock does, of what it is asked in every way, and all it remembers of that. */
async function useService(see: See, service: MockService, base: string): Promise<void> {
  const call = async (init: RequestInit): Promise<void> => {
    const request = new Request(`${base}/api/payments`, { method: 'POST', ...init });
    const answer = await service.fetch(request).catch((error: unknown) => error);
    // A payment is answered with what it was created from.
    const shown = answer instanceof Response ? await answer.text().catch(String) : answer;
    see('the answer', shown, "the mock's records");
  };
  await using endpoint = await startEndpoint((count) => (count % 2 === 0 ? 200 : 500));
  service.callbackUrl = endpoint.url;
  service.subscribe((event) => see(`the ${event.type} event`, event, "the mock's records"));
  for (const request of requests) await call(request);
  for (const type of ['rate-limit', 'html-error', 'malformed-json', 'lost-answer'] as const) {
    service.faults.add({ on: 'request', type });
    await call({ headers: json, body: creation });
  }
  const id = service.payments.list()[0]?.referenceNumber ?? '';
  for (const type of ['duplicate', 'drop', 'tampered-body', 'wrong-secret'] as const) {
    service.faults.add({ on: 'callback', type });
    see('the pending faults', service.faults.pending());
    see('the delivery', await service.setStatus(id, 'paid'), "the mock's records");
  }
  for (const { headers, rawBody } of endpoint.received) {
    see('the headers of a callback', headers);
    see('the body of a callback', rawBody.toString(), "the mock's records");
  }
  const { requests: received, deliveries, payments } = service;
  see('all that it remembers', [payments.list(), received, deliveries], "the mock's records");
  const inTime = { timeoutMs: 0 };
  for (const run of [
    () => service.waitForDelivery({ status: 'none' }, inTime),
    () => service.waitForRequest({ method: 'PUT', path: '/none' }, inTime),
    () => service.setStatus('none', 'paid'),
    () => service.faults.add({ on: 'callback', type: mockSigningSecret } as never),
    () => Object.assign(service, { callbackUrl: `ftp://user:${mockApiSecret}@example.com` }),
  ]) {
    see(`the error of ${run}`, await failureOf(run));
  }
}

const refusedOptions =
  (create: (options: never) => unknown): Walk =>
  async (see) => {
    for (const options of [
      { apiKey: `${mockApiKey}:${mockApiSecret}` },
      { apiSecret: { mockApiSecret } },
      { signingSecret: ` ${mockSigningSecret}` },
      { callbackUrl: `http://user:${mockApiSecret}@127.0.0.1/` },
      { seed: mockApiSecret },
    ]) {
      const error = await failureOf(() => create({ ...credentials, ...options } as never));
      see(`the error for ${Object.keys(options)}`, error);
    }
  };

export const mockWalks: Walks = {
  './mock-server createMockService': {
    'while it is used': async (see) => {
      await using service = createMockService({ ...credentials, clock: createManualClock() });
      see('the new service', service, "the mock's credentials");
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
    'with options that can not be right': refusedOptions(createMockService),
  },
  './mock-server startMockServer': {
    'while it is used': async (see) => {
      await using server = await startMockServer({ ...credentials, clock: createManualClock() });
      await useService(see, server, server.url);
      expectHidden(see, server);
      const { port } = new URL(server.url);
      const again = () => startMockServer({ ...credentials, port: Number(port) });
      see('the error of a port that is taken', await failureOf(again));
      // TEST-NET-1: no machine has it.
      const elsewhere = () => startMockServer({ ...credentials, host: '192.0.2.1' });
      see('the error of a host that is not this machine', await failureOf(elsewhere));
    },
    'with options that can not be right': refusedOptions(startMockServer),
  },
  './msw paymentServiceHandlers': {
    'when they are printed': (see) => {
      const handlers = paymentServiceHandlers(credentials).map(({ info }) => info);
      see('the handlers', handlers);
    },
    'with options that can not be right': refusedOptions(paymentServiceHandlers),
  },
};

/** The getters are an exception; what prints the object as a whole is none. */
function expectHidden(see: See, service: MockService): void {
  see('its JSON', JSON.stringify({ service }));
  see('its fields', Object.entries(service));
}
