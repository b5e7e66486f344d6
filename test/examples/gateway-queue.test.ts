import { createServer } from 'node:http';
import type { EventBridgeEvent, SQSRecord } from 'aws-lambda';
import { verifyCallback } from 'merchant-payments';
import { memoryStore } from 'merchant-payments/store';
import { beforeEach, expect, it, vi } from 'vitest';
import { fromEventBridge, handle, sqsHandler } from '../../examples/queues/gateway.js';
import {
  deliver,
  openScene,
  type Scene,
  SECRET,
  sign,
} from '../receiver/adapter-contract/scene.js';

const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.stubEnv('MERCHANT_PAYMENTS_SIGNING_SECRET', SECRET);
});

/** What API Gateway and SQS are together: a message is kept, and the service has its 200. */
async function openGateway(): Promise<{ scene: Scene; messages: SQSRecord[] }> {
  const messages: SQSRecord[] = [];
  const scene = await openScene(() =>
    createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const attribute = (name: string) => ({
        stringValue: String(request.headers[name]),
        dataType: 'String',
      });
      messages.push({
        messageId: String(messages.length),
        body: Buffer.concat(chunks).toString(),
        // As if it came back from a dead-letter queue.
        attributes: { SentTimestamp: String(Date.now()) },
        messageAttributes: {
          'X-Timestamp': attribute('x-timestamp'),
          'X-Signature': attribute('x-signature'),
          // An hour before it is handled.
          'Received-At': { stringValue: String(Date.now() - HOUR_MS), dataType: 'String' },
        },
      } as unknown as SQSRecord);
      response.end();
    }),
  );
  return { scene, messages };
}

const anHourAgo = (offsetSeconds = 0) => new Date(Date.now() - HOUR_MS + offsetSeconds * 1000);

it('handles a callback from a queue an hour after the gateway took it in, and once', async () => {
  const { scene, messages } = await openGateway();
  const callback = sign({ referenceNumber: 'p-1' }, { timestamp: anHourAgo() });
  for (const _time of ['once', 'again']) {
    expect(await deliver(scene, callback)).toMatchObject({ status: 200 });
  }
  const paid: string[] = [];
  const handler = sqsHandler(memoryStore(), async ({ referenceNumber, status }) => {
    paid.push(`${referenceNumber} is ${status}`);
  });
  expect(await handler({ Records: messages })).toEqual({ batchItemFailures: [] });
  expect(paid).toEqual(['p-1 is paid']);
  // By this machine's clock it is too old.
  const { rawBody, headers } = callback;
  expect(() => verifyCallback({ rawBody, headers }, { signingSecret: SECRET })).toThrow(
    expect.objectContaining({ code: 'TIMESTAMP_OUTSIDE_WINDOW' }),
  );
});

it('leaves to the queue what is forged, replayed, or fails', async () => {
  const { scene, messages } = await openGateway();
  const payment = { referenceNumber: 'p-2' };
  await deliver(scene, sign(payment, { timestamp: anHourAgo(), signingSecret: 'another' }));
  await deliver(scene, sign(payment, { timestamp: anHourAgo(-400) }));
  await deliver(scene, sign(payment, { timestamp: anHourAgo() }));
  const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  let attempts = 0;
  const handler = sqsHandler(memoryStore(), async () => {
    attempts += 1;
    if (attempts === 1) throw new Error('The database is away');
  });
  const failed = ({ messageId }: SQSRecord) => ({ itemIdentifier: messageId });
  const [forged, replayed, failing] = messages as [SQSRecord, SQSRecord, SQSRecord];
  expect(await handler({ Records: messages })).toEqual({
    batchItemFailures: [forged, replayed, failing].map(failed),
  });
  expect(await handler({ Records: [failing] })).toEqual({ batchItemFailures: [] });
  expect(log.mock.calls.map(([, error]) => (error as { code?: string }).code)).toEqual([
    'SIGNATURE_MISMATCH',
    'TIMESTAMP_OUTSIDE_WINDOW',
    undefined,
  ]);
});

it('handles an event of EventBridge, whose body is in base64', async () => {
  const { rawBody, headers } = sign({ referenceNumber: 'p-3' }, { timestamp: anHourAgo() });
  const detail = {
    body: Buffer.from(rawBody).toString('base64'),
    timestamp: headers['x-timestamp'] ?? '',
    signature: headers['x-signature'] ?? '',
  };
  const event = { time: anHourAgo().toISOString(), detail } as EventBridgeEvent<
    string,
    typeof detail
  >;
  const paid: string[] = [];
  await handle(fromEventBridge(event), memoryStore(), async ({ referenceNumber }) => {
    paid.push(referenceNumber);
  });
  expect(paid).toEqual(['p-3']);
});
