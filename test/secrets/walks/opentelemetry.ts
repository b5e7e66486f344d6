import { createCallbackReceiver } from '../../../src/receiver/callback-receiver.js';
import { memoryStore } from '../../../src/store/memory.js';
import { now } from '../../callback/sample-callback.js';
import { startTelemetry } from '../../opentelemetry/telemetry.js';
import { customer, signingText } from '../planted.js';
import type { See, Walks } from '../watch.js';
import { createLogger } from './client.js';
import { refusals, signed } from './signed-callback.js';
import { createClient, order } from './store-payments.js';

/** Does everything of which spans and metrics are made: calls that fail in every way, and callbacks. */
async function work(see: See): Promise<void> {
  const client = createClient({ logger: createLogger(see) });
  let nowMs = 0;
  const store = memoryStore({ client, logger: createLogger(see), now: () => nowMs });
  const { spans, descriptions, disable } = startTelemetry({ store });
  see('what stops it', disable);
  for (let attempt = 0; attempt < 6; attempt += 1) {
    await store.create(order).catch(() => undefined);
    nowMs += 900_000;
    for await (const item of store.attention({ kinds: ['unresolved'] })) {
      if (item.kind === 'unresolved') await store.markNotCreated(item);
    }
  }
  const receiver = createCallbackReceiver({
    now,
    signingSecret: signingText,
    store,
    logger: createLogger(see),
    onPayment: () => Promise.reject(new Error(`${customer} ${signingText}`)),
    onError: () => {},
    onRejected: () => {},
  });
  const requests = refusals(signingText).map(([, request]) => request);
  for (const request of [signed(signingText), ...requests]) {
    const received = receiver.receive({ method: 'POST', ...Object(request) } as never);
    await received.catch(() => undefined);
  }
  if (spans().length < 20) throw new Error('spans are missing');
  const shown = spans().map(({ name, attributes, events, status }) => {
    return [name, attributes, events, status];
  });
  see('the spans', shown);
  const metrics = await descriptions();
  if (metrics.length === 0) throw new Error('metrics are missing');
  see('the metrics', JSON.parse(JSON.stringify(metrics)));
}

export const opentelemetryWalks: Walks = {
  './opentelemetry instrumentMerchantPayments': {
    'in spans and metrics of calls and callbacks': work,
  },
};
