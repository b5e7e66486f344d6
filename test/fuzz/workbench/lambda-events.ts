import assert from 'node:assert/strict';
import fc from 'fast-check';
import { InvalidOptionError } from '../../../src/errors.js';
import {
  callbackHandler,
  type LambdaEvent,
  type LambdaResult,
} from '../../../src/lambda/callback-handler.js';
import { anyText } from '../../any-text.js';
import { now, SECRET, sampleRequest } from '../../callback/sample-callback.js';
import { checkBatches, type FuzzOptions, type FuzzResult, Tally } from '../property-runs.js';

const { rawBody, headers } = sampleRequest();
const text = String(rawBody);

const anything = fc.oneof(fc.jsonValue({ maxDepth: 2 }), anyText());

/** Events of which some are genuine callbacks, and the rest is any JSON in any place. */
const events = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      {
        httpMethod: fc.oneof(fc.constantFrom('POST', 'GET', 'post'), anything),
        requestContext: fc.oneof(fc.constant({ http: { method: 'POST' } }), anything),
        headers: fc.oneof(fc.constant(headers), anything),
        multiValueHeaders: fc.oneof(fc.constant(null), anything),
        body: fc.oneof(
          fc.constantFrom(text, Buffer.from(text).toString('base64'), '%', ''),
          anything,
        ),
        isBase64Encoded: fc.oneof(fc.boolean(), anything),
      },
      { requiredKeys: [] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.boolean().map((base64) => ({
      httpMethod: 'POST',
      headers,
      body: base64 ? Buffer.from(text).toString('base64') : text,
      isBase64Encoded: base64,
    })),
  },
  { weight: 1, arbitrary: anything },
);

/** Only a genuine callback gets through. The handler's promise rejects for what names no method, and for nothing else. */
export async function fuzzLambdaEvents(options: FuzzOptions): Promise<FuzzResult> {
  const tally = new Tally();
  let processed = 0;
  const handler = callbackHandler({
    signingSecret: SECRET,
    now,
    store: {
      async process(_event, work) {
        await work({
          tx: undefined,
          signal: new AbortController().signal,
          order: 'order-1',
          current: true,
          secondPayment: false,
        });
        return { outcome: 'processed' };
      },
    },
    onPayment: () => {
      processed += 1;
    },
    onError: () => undefined,
    onRejected: () => undefined,
  });
  const cases = await checkBatches({
    ...options,
    arbitrary: events,
    batchSize: 100,
    async check(batch) {
      for (const event of batch) {
        processed = 0;
        const answer = await handler(event as LambdaEvent).catch((error: unknown) => error);
        if (answer instanceof InvalidOptionError) {
          assert.equal(processed, 0);
          assert.equal(answer.option, 'request');
          assert.notEqual((event as LambdaEvent | null)?.httpMethod, 'POST');
          tally.add('refused');
          continue;
        }
        const { statusCode, headers: answered, body } = answer as LambdaResult;
        assert.equal(processed, statusCode === 200 ? 1 : 0);
        assert(Number.isInteger(statusCode) && typeof answered === 'object' && body === '');
        tally.add(`status ${statusCode}`);
      }
    },
  });
  return { cases, counts: tally.counts };
}
