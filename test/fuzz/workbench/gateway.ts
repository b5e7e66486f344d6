import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createMockService } from '../../../src/mock-server/service.js';
import { anyText } from '../../any-text.js';
import { checkBatches, type FuzzOptions, type FuzzResult, Tally } from '../property-runs.js';

const AUTHORIZED = `Basic ${Buffer.from('key:secret').toString('base64')}`;
const ORDER = { merchantPaymentReference: 'order-1', amount: 1000, currency: 'EUR' };

const bodies = fc.oneof(
  { weight: 3, arbitrary: fc.constant(JSON.stringify(ORDER)) },
  {
    weight: 3,
    arbitrary: fc
      .dictionary(
        fc.constantFrom(...Object.keys(ORDER), '__proto__', 'status'),
        fc.jsonValue({ maxDepth: 2 }),
      )
      .map((fields) => JSON.stringify({ ...ORDER, ...fields })),
  },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
  { weight: 1, arbitrary: anyText() },
);

const requests = fc.record({
  method: fc.constantFrom('POST', 'POST', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH', 'x-y'),
  path: fc.oneof(
    { weight: 4, arbitrary: fc.constant('/api/payments') },
    { weight: 1, arbitrary: fc.webPath() },
    {
      weight: 1,
      arbitrary: fc.constantFrom('/api/payments/', '//api/payments', '/api/payments?a=%'),
    },
  ),
  authorization: fc.oneof(
    { weight: 4, arbitrary: fc.constant(AUTHORIZED) },
    { weight: 1, arbitrary: fc.constantFrom('', 'Basic', 'Basic =', `${AUTHORIZED}=`, 'Bearer x') },
    { weight: 1, arbitrary: fc.base64String().map((text) => `Basic ${text}`) },
  ),
  contentType: fc.constantFrom(
    'application/json',
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    ';',
  ),
  body: bodies,
});

/** The mock answers every request, and makes a payment for a 201 alone. */
export async function fuzzGateway(options: FuzzOptions): Promise<FuzzResult> {
  const tally = new Tally();
  const cases = await checkBatches({
    ...options,
    arbitrary: requests,
    batchSize: 100,
    async check(batch) {
      const service = createMockService({ apiKey: 'key', apiSecret: 'secret', seed: 1 });
      let created = 0;
      for (const { method, path, authorization, contentType, body } of batch) {
        const answer = await service.fetch(
          new Request(`http://mock.test${path}`, {
            method,
            headers: { authorization, 'content-type': contentType },
            body,
          }),
        );
        const answered = (await answer.json()) as Record<string, unknown>;
        if (answer.status === 201) created += 1;
        else assert(answer.status >= 400 && answer.status < 500 && answered['requestId']);
        assert(answer.status === 401 || authorization.startsWith('Basic '));
        tally.add(`status ${answer.status}`);
      }
      assert.equal(service.payments.list().length, created);
    },
  });
  return { cases, counts: tally.counts };
}
