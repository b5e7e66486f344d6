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
import { apiSecret, authorization, customer, signingText } from '../planted.js';
import type { See, Walks } from '../watch.js';

// The mock's own credentials protect nothing. A merchant's may be sent to it, or set, by mistake.

/** Whatever the mock does, of what it is asked in every way, and all it remembers of that. */
async function useService(see: See, service: MockService, base: string): Promise<void> {
  const call = async (authorization: string, body: string, method = 'POST'): Promise<void> => {
    const headers = { authorization, 'content-type': 'application/json', cookie: apiSecret };
    const request = new Request(`${base}/api/payments`, { method, headers, body });
    const answer = await service.fetch(request).catch((error: unknown) => error);
    // A payment is answered with what it was created from.
    const shown = answer instanceof Response ? await answer.text().catch(String) : answer;
    see('the answer', shown, "the mock's records");
  };
  const order = { merchantPaymentReference: customer, amount: 5, currency: 'EUR', note: customer };
  const creation = JSON.stringify(order);
  const own = `Basic ${Buffer.from(`${service.apiKey}:${service.apiSecret}`).toString('base64')}`;
  await using endpoint = await startEndpoint((count) => (count % 2 === 0 ? 200 : 500));
  service.callbackUrl = endpoint.url;
  service.subscribe((event) => see(`the ${event.type} event`, event, "the mock's records"));
  for (const one of [own, authorization, `Bearer ${apiSecret}`]) await call(one, creation);
  await call(own, `${customer}{`);
  await call(own, creation, 'PUT');
  for (const type of ['rate-limit', 'html-error', 'malformed-json', 'lost-answer'] as const) {
    service.faults.add({ on: 'request', type });
    await call(own, creation);
  }
  const id = service.payments.list()[0]?.referenceNumber ?? '';
  for (const type of ['duplicate', 'drop', 'tampered-body', 'wrong-secret'] as const) {
    service.faults.add({ on: 'callback', type });
    see('the pending faults', service.faults.pending());
    see('the delivery', await service.setStatus(id, 'paid'), "the mock's records");
  }
  for (const { headers } of endpoint.received) see('the headers of a callback', headers);
  const { requests, deliveries, payments } = service;
  see('all that it remembers', [payments.list(), requests, deliveries], "the mock's records");
  const inTime = { timeoutMs: 0 };
  for (const run of [
    () => service.waitForDelivery({ status: 'none' }, inTime),
    () => service.waitForRequest({ method: 'PUT', path: '/none' }, inTime),
    () => service.setStatus('none', 'paid'),
    () => service.faults.add({ on: 'callback', type: signingText } as never),
    () => Object.assign(service, { callbackUrl: `ftp://user:${apiSecret}@example.com` }),
  ]) {
    see(`the error of ${run}`, await failureOf(run));
  }
}

async function refuseOptions(see: See, create: (options: never) => unknown): Promise<void> {
  for (const options of [
    { apiSecret: { apiSecret } },
    { signingSecret: ` ${signingText}` },
    { callbackUrl: `http://user:${encodeURIComponent(apiSecret)}@127.0.0.1/` },
  ]) {
    see(`the error for ${Object.keys(options)}`, await failureOf(() => create(options as never)));
  }
}

const set = { apiSecret, signingSecret: signingText };

export const mockWalks: Walks = {
  './mock-server createMockService': {
    'while it is used': async (see) => {
      await using service = createMockService({ clock: createManualClock() });
      await useService(see, service, 'http://service.example');
      await using merchants = createMockService(set);
      see('its JSON', JSON.stringify({ merchants }));
      see('its fields', Object.entries(merchants));
      const clock = createManualClock();
      manualClock(clock, 'clock').setTimeout(
        async () => see('the error of a busy clock', await failureOf(() => clock.advance(1))),
        1,
      );
      await clock.advance(1);
      await service.close();
      see('the error after close()', await failureOf(() => service.setStatus('a', 'b')));
    },
    'with options that can not be right': (see) => refuseOptions(see, createMockService),
  },
  './mock-server startMockServer': {
    'while it is used': async (see) => {
      await using server = await startMockServer({ clock: createManualClock() });
      await useService(see, server, server.url);
      const port = Number(new URL(server.url).port);
      const again = () => startMockServer({ ...set, port });
      see('the error of a port that is taken', await failureOf(again));
      // TEST-NET-1: no machine has it.
      const elsewhere = () => startMockServer({ ...set, host: '192.0.2.1' });
      see('the error of a host that is not this machine', await failureOf(elsewhere));
    },
  },
  './msw paymentServiceHandlers': {
    'when they are printed': (see) =>
      see(
        'the handlers',
        paymentServiceHandlers(set).map(({ info }) => info),
      ),
  },
};
