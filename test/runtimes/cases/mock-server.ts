import { createServer, type RequestListener, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { verifyCallback } from 'merchant-payments/callback';
import {
  createManualClock,
  type MockServer,
  type MockServerOptions,
  type RequestFault,
  startMockServer,
} from 'merchant-payments/mock-server';
import { callbackHandler } from 'merchant-payments/node';
import { signCallback } from 'merchant-payments/testing';
import { equal, failsWith, isTrue } from './assert.js';
import type { CaseGroup } from './case.js';
import { SECRET } from './signed-callback.js';

const order = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };

export const mockServer: CaseGroup = {
  name: 'mock-server',
  cases: [
    {
      name: 'answers 201, 400, 401 and 404 as the interface says',
      run: () =>
        withMock({}, async (service) => {
          const answers = [
            await call(service, { body: JSON.stringify(order) }),
            await call(service, { body: '{' }),
            await call(service, { body: JSON.stringify(order), apiSecret: 'wrong' }),
            await call(service, { body: '', path: '/api/elsewhere' }),
          ];
          equal(
            answers.map(({ status }) => status),
            [201, 400, 401, 404],
          );
          const { code, message, requestId } = JSON.parse(answers[2]?.body ?? '');
          equal([code, message], ['INVALID_CREDENTIALS', 'Invalid credentials.']);
          isTrue(/^[\da-f-]{36}$/.test(requestId), 'a requestId');
          equal(service.payments.list().length, 1);
        }),
    },
    {
      name: 'makes the same identifiers of the same seed',
      async run() {
        const references = await Promise.all(
          [1, 2].map(() =>
            withMock({ seed: 7 }, async (service) => {
              await call(service, { body: JSON.stringify(order) });
              return service.payments.list()[0]?.referenceNumber;
            }),
          ),
        );
        equal(references[0], references[1]);
      },
    },
    ...(
      [
        ['delay', 201],
        ['unauthorized', 401],
        ['rate-limit', 429],
        ['server-error', 500],
        ['html-error', 502],
        ['malformed-json', 201],
        ['empty-body', 201],
        ['truncated-body', 'broken'],
        ['reset-before-headers', 'broken'],
        ['lost-answer', 'broken'],
        ['reset-in-body', 'broken'],
      ] as const
    ).map(([type, expected]) => ({
      name: `does what the fault ${type} says`,
      run: () =>
        withMock({}, async (service) => {
          service.faults.add(
            type === 'delay' ? { on: 'request', type, delayMs: 5 } : { on: 'request', type },
          );
          equal((await call(service, { body: JSON.stringify(order) })).status, expected);
          const created: readonly RequestFault['type'][] = [
            'delay',
            'malformed-json',
            'empty-body',
            'truncated-body',
            'lost-answer',
            'reset-in-body',
          ];
          equal(service.payments.list().length, created.includes(type) ? 1 : 0, 'payments');
        }),
    })),
    {
      name: 'leaves a request open with the fault hang, and ends it when it is closed',
      async run() {
        let answer: Promise<{ status: number | string }> | undefined;
        await withMock({}, async (service) => {
          service.faults.add({ on: 'request', type: 'hang' });
          answer = call(service, { body: JSON.stringify(order) });
          await service.waitForRequest({});
          equal(service.requests[0]?.ended, false);
        });
        equal((await answer)?.status, 'broken');
      },
    },
    {
      name: 'sends a signed callback for every change, in each encoding',
      async run() {
        for (const signatureEncoding of ['hex', 'base64', 'base64url'] as const) {
          const statuses: string[] = [];
          await withMerchant(
            (incoming, response) => {
              const chunks: Uint8Array[] = [];
              incoming.on('data', (chunk) => chunks.push(chunk));
              incoming.on('end', () => {
                const { headers } = incoming;
                const { payment } = verifyCallback(
                  { rawBody: Buffer.concat(chunks), headers },
                  { signingSecret: SECRET, signatureEncoding },
                );
                statuses.push(payment.status);
                response.writeHead(200).end();
              });
            },
            { signatureEncoding },
            async (service, referenceNumber) => {
              await service.setStatus(referenceNumber, 'paid');
              await service.setStatus(referenceNumber, 'refunded');
            },
          );
          equal(statuses, ['paid', 'refunded']);
        }
      },
    },
    {
      name: 'repeats what was not acknowledged, by the clock it is given',
      async run() {
        const clock = createManualClock();
        let calls = 0;
        await withMerchant(
          (incoming, response) => {
            calls += 1;
            incoming.resume().on('end', () => response.writeHead(calls < 3 ? 500 : 200).end());
          },
          { clock, retryScheduleMs: [60_000, 3_600_000] },
          async (service, referenceNumber) => {
            await service.setStatus(referenceNumber, 'paid');
            equal(calls, 1);
            await clock.advance(2 * 3_600_000);
            equal(
              service.deliveries.map(({ attempt, outcome }) => [attempt, outcome]),
              [
                [1, 'refused'],
                [2, 'refused'],
                [3, 'acknowledged'],
              ],
            );
          },
        );
      },
    },
    {
      name: 'does to a callback handler what its faults say, and each payment is handled once',
      async run() {
        const handled: string[] = [];
        const clock = createManualClock();
        const handle = callbackHandler({
          signingSecret: SECRET,
          now: clock.now,
          onPayment: ({ payment }) => void handled.push(payment.status),
          onRejected: () => undefined,
        });
        await withMerchant(
          handle,
          { clock, retryScheduleMs: [1_000] },
          async (service, reference) => {
            const faults = [
              { on: 'callback', type: 'duplicate', mode: 'at-once', copies: 3 },
              { on: 'callback', type: 'tampered-body' },
              { on: 'callback', type: 'wrong-secret' },
              { on: 'callback', type: 'drop' },
            ] as const;
            for (const [index, fault] of faults.entries()) {
              service.faults.add(fault);
              await service.setStatus(reference, `status-${index}`);
              await clock.advance(10_000);
            }
          },
        );
        equal(
          handled,
          Array.from({ length: 4 }, (_, index) => `status-${index}`),
        );
      },
    },
    {
      name: 'is controlled over HTTP, and shows its page',
      run: () =>
        withMock({}, async (service) => {
          const page = await fetch(`${service.url}/_mock/`);
          equal(page.status, 200);
          isTrue((await page.text()).includes('<html'), 'a page');
        }),
    },
    {
      name: 'frees its port when it is closed',
      async run() {
        const { url } = await withMock({}, async (service) => service);
        const { port } = new URL(url);
        const code = await new Promise((resolve) => {
          const socket = connect(Number(port), '127.0.0.1');
          socket.on('connect', () => resolve('connected'));
          socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
        });
        equal(code, 'ECONNREFUSED');
      },
    },
    {
      name: 'signCallback makes what the verifier accepts',
      async run() {
        const callback = signCallback({ payment: { status: 'paid' }, signingSecret: SECRET });
        equal(verifyCallback(callback, { signingSecret: SECRET }).payment.status, 'paid');
        await failsWith(
          () => verifyCallback(callback, { signingSecret: 'another' }),
          'SIGNATURE_MISMATCH',
        );
      },
    },
  ],
};

async function withMock<Result>(
  options: MockServerOptions,
  act: (service: MockServer) => Promise<Result>,
): Promise<Result> {
  const service = await startMockServer({ signingSecret: SECRET, ...options });
  try {
    return await act(service);
  } finally {
    await service.close();
  }
}

/** A mock service with one payment, whose callbacks go to the listener. */
async function withMerchant(
  listener: RequestListener,
  options: MockServerOptions,
  act: (service: MockServer, referenceNumber: string) => Promise<void>,
): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const callbackUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`;
  try {
    await withMock({ ...options, callbackUrl }, async (service) => {
      await call(service, { body: JSON.stringify(order) });
      await act(service, service.payments.list()[0]?.referenceNumber ?? '');
      equal(service.faults.pending(), [], 'faults that did not happen');
    });
  } finally {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

interface Call {
  readonly body: string;
  readonly apiSecret?: string;
  readonly path?: string;
}

/** One request by node:http, not by this package's client. */
function call(
  service: MockServer,
  { body, apiSecret = service.apiSecret, path = '/api/payments' }: Call,
): Promise<{ status: number | string; body: string }> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Basic ${btoa(`${service.apiKey}:${apiSecret}`)}`,
      'content-type': 'application/json',
    };
    const outgoing = request(`${service.url}${path}`, { method: 'POST', headers, agent: false });
    outgoing.on('error', () => resolve({ status: 'broken', body: '' }));
    outgoing.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', () => resolve({ status: 'broken', body: text }));
    });
    outgoing.end(body);
  });
}
