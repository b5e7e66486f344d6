import { createSecretKey } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import * as web from '../../src/fetch/callback-handler.js';
import { memoryInbox } from '../../src/inbox/memory.js';
import * as lambda from '../../src/lambda/callback-handler.js';
import * as node from '../../src/node/callback-handler.js';
import {
  createCallbackReceiver,
  type ReceivedRequest,
} from '../../src/receiver/callback-receiver.js';
import { NOW_SECONDS, now, sampleRecord, sampleRequest } from '../callback/sample-callback.js';

const secret = 'planted-secret-7Zq+/é';
const marker = 'planted-reference-7Zq';
const planted = [secret, marker, 'planted'].flatMap((text) => [
  text,
  encodeURIComponent(text),
  ...(['base64', 'base64url', 'hex'] as const).map((form) =>
    Buffer.from(text).toString(form).replace(/=+$/, ''),
  ),
]);

const body = JSON.stringify(sampleRecord({ merchantPaymentReference: marker, note: marker }));
const signed = (how: Parameters<typeof sampleRequest>[0] = {}): ReceivedRequest => ({
  method: 'POST',
  ...sampleRequest({ body, secret, ...how }),
});

/** Everything that can go wrong without the merchant's own errors. */
const failures: Record<string, ReceivedRequest> = {
  'another secret': signed({ secret: 'of another account' }),
  'a stale timestamp': signed({ timestamp: String(NOW_SECONDS - 301) }),
  'no signature': { ...signed(), headers: {} },
  'a signature that is none': {
    ...signed(),
    headers: { ...signed().headers, 'x-signature': marker },
  },
  'no record': signed({ body: JSON.stringify({ referenceNumber: marker, status: 7 }) }),
  'no JSON': signed({ body: `{"${marker}` }),
  'a parsed body': { ...signed(), rawBody: JSON.parse(body) },
  'a lone surrogate': { ...signed(), rawBody: `${body}\ud800` },
  'another method': { ...signed(), method: 'GET' },
};

function expectNothingPlanted(shown: string): void {
  for (const text of planted) expect(shown).not.toContain(text);
}

describe('neither the secret nor the body', () => {
  it.each(Object.entries(failures))(
    'is told by the handler’s own reports of %s',
    async (_, request) => {
      const lines: unknown[][] = [];
      for (const level of ['error', 'warn'] as const) {
        vi.spyOn(console, level).mockImplementation((...parts) => void lines.push(parts));
      }
      const told: unknown[] = [];
      const options = { signingSecret: secret, now, onPayment: () => undefined };
      const reply = await createCallbackReceiver(options).receive(request);
      await createCallbackReceiver({
        ...options,
        onError: (error) => void told.push(error),
        onRejected: (error) => void told.push(error),
      }).receive(request);
      expect(told).toHaveLength(request.method === 'POST' ? 1 : 0);
      expect(lines).toHaveLength(told.length);
      const all = [reply, lines, told, told.map((error) => JSON.stringify(error))];
      expectNothingPlanted(inspect(all, { depth: 9, showHidden: true }));
    },
  );

  it.each([
    ['text', secret],
    ['bytes', Buffer.from(secret)],
    ['a KeyObject', createSecretKey(secret, 'utf8')],
    ['a function', () => secret],
  ])('is shown by a handler that is printed, with the secret as %s', async (_, signingSecret) => {
    const options = { signingSecret, now, onPayment: () => undefined, inbox: memoryInbox() };
    const receiver = createCallbackReceiver(options);
    await receiver.receive(signed());
    const handlers = [
      receiver,
      node.callbackHandler(options),
      web.callbackHandler(options),
      lambda.callbackHandler(options),
    ];
    expectNothingPlanted(inspect(handlers, { depth: 9, showHidden: true }));
    expectNothingPlanted(JSON.stringify(handlers));
  });
});
