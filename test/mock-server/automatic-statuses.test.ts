import { expect, test } from 'vitest';
import { createManualClock, createMockService } from '../../src/mock-server/index.js';
import { creation, order } from './merchant-client.js';
import { startEndpoint } from './merchant-endpoint.js';

type Options = Parameters<typeof createMockService>[0];

/** A service on a clock that stands still, and a merchant who creates payments. */
function startService(options: Options) {
  const clock = createManualClock();
  const service = createMockService({ clock, ...options });
  const answerOf = async (merchantPaymentReference: string): Promise<unknown> => {
    const answer = await service.fetch(creation({ ...order, merchantPaymentReference }));
    return answer.json();
  };
  const create = async (merchantPaymentReference: string): Promise<string> =>
    ((await answerOf(merchantPaymentReference)) as { referenceNumber: string }).referenceNumber;
  const statuses = () => service.payments.list().map(({ status }) => status);
  return { clock, service, answerOf, create, statuses };
}

test('a payment gets the status by itself after its time, with a callback', async () => {
  await using endpoint = await startEndpoint();
  const { clock, service, create, statuses } = startService({
    callbackUrl: endpoint.url,
    autoStatus: 'paid',
    autoStatusAfterMs: 2_000,
  });
  await create('order-1');
  await clock.advance(1_999);
  expect(statuses()).toEqual(['pending']);
  await clock.advance(1);
  expect(statuses()).toEqual(['paid']);
  expect(service.deliveries).toMatchObject([{ status: 'paid', outcome: 'acknowledged' }]);
  await clock.advance(10_000);
  expect(service.deliveries).toHaveLength(1);
});

test('a reference can ask for a status, also against the option', async () => {
  const { clock, create, statuses } = startService({});
  for (const reference of ['a-auto-paid', 'a-auto-failed-late_2', 'a-auto-', '-auto-paid ', 'a']) {
    await create(reference);
  }
  await clock.advance(999);
  expect(statuses()).toEqual(Array(5).fill('pending'));
  await clock.advance(1);
  expect(statuses()).toEqual(['paid', 'failed-late_2', 'pending', 'pending', 'pending']);
  const other = startService({ autoStatus: 'paid', autoStatusAfterMs: 0 });
  await other.create('a-auto-failed');
  await other.create('a');
  await other.clock.advance(0);
  expect(other.statuses()).toEqual(['failed', 'paid']);
});

test('a status that was set before stays', async () => {
  const { clock, service, create, statuses } = startService({ autoStatus: 'paid' });
  await service.setStatus(await create('a'), 'cancelled');
  await service.setStatus(await create('b'), 'pending');
  await clock.advance(1_000);
  expect(statuses()).toEqual(['cancelled', 'pending']);
});

test('nothing of it is left after a reset', async () => {
  const { clock, service, create, statuses } = startService({ autoStatus: 'paid', seed: 7 });
  await create('a');
  service.reset();
  await clock.advance(500);
  // The same identifier again.
  await create('b');
  await clock.advance(500);
  expect(statuses()).toEqual(['pending']);
});

test('a creation answers further fields, with the reference number in their texts', async () => {
  const url = 'https://pay.example/{referenceNumber}?again={referenceNumber}';
  const answerFields = { redirectUrl: url, links: [{ href: '{referenceNumber}' }], limit: 5 };
  const { service, answerOf } = startService({ answerFields });
  const answer = await answerOf('a');
  const number = service.payments.list()[0]?.referenceNumber;
  expect(answer).toMatchObject({
    referenceNumber: number,
    redirectUrl: `https://pay.example/${number}?again=${number}`,
    links: [{ href: number }],
    limit: 5,
  });
});
