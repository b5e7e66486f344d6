import { afterEach, describe, expect, test, vi } from 'vitest';
import { createManualClock } from '../../../src/mock-server/index.js';
import { PackedTexts } from '../../../src/mock-server/state/packed-texts.js';
import { PaymentBook } from '../../../src/mock-server/state/payments.js';
import { SeededIds } from '../../../src/mock-server/state/seeded-ids.js';
import { startWithPayment } from '../merchant-client.js';
import { parseBody, startEndpoint } from '../merchant-endpoint.js';

// Payments beyond the last 100 that changed are packed, and deliveries beyond the last 10,000 that
// wait for a retry are parked. Nobody must notice.

afterEach(() => {
  vi.restoreAllMocks();
});

function createBook(): PaymentBook {
  return new PaymentBook({
    clock: createManualClock({ now: 1_000_000 }),
    ids: new SeededIds(7),
    initialStatus: 'created',
    onChange: () => undefined,
  });
}

describe('a packed payment', () => {
  test('is read as it was', () => {
    const book = createBook();
    const odd = { merchantPaymentReference: '"\n\ud800é', amount: 0.1, currency: 'EUR' };
    const extra = JSON.parse('{"__proto__": 1, "list": [{"a": null}]}');
    const { referenceNumber } = book.create({ ...odd, note: extra });
    const before = book.setStatus(referenceNumber, 'paid');
    fill(book);
    const payment = book.get(referenceNumber);
    expect(payment).not.toBe(before);
    expect(payment).toStrictEqual(before);
    expect(Object.isFrozen(payment) && Object.isFrozen(payment?.history)).toBe(true);
    expect(book.list()[0]).toStrictEqual(before);
    expect(book.firstOf(odd.merchantPaymentReference)).toStrictEqual(before);
  });

  test('is found by a part of its reference, and changed like any other', () => {
    const book = createBook();
    const { referenceNumber } = book.create({ ...order(0), merchantPaymentReference: 'A "B"' });
    fill(book);
    const query = { limit: 10, before: undefined };
    expect(book.page({ ...query, search: 'a "B"' })).toMatchObject({
      payments: [{ referenceNumber }],
      total: 1,
    });
    expect(book.page({ ...query, search: 'currency' }).total).toBe(0);
    expect(book.page({ ...query, search: undefined, limit: 20_000 }).payments.at(-1)).toMatchObject(
      { referenceNumber },
    );
    book.setStatus(referenceNumber, 'paid');
    expect(book.get(referenceNumber)?.history.map(({ status }) => status)).toEqual([
      'created',
      'paid',
    ]);
  });
});

test('the room of texts that were deleted is told, so that it can be freed', () => {
  const texts = new PackedTexts();
  const long = texts.add('x'.repeat(3_000_000));
  const short = texts.add('é');
  expect([texts.get(long).length, texts.get(short)]).toEqual([3_000_000, 'é']);
  texts.delete(short);
  expect(texts.isMostlyWaste).toBe(false);
  texts.delete(long);
  expect(texts.isMostlyWaste).toBe(true);
  texts.clear();
  expect(texts.isMostlyWaste).toBe(false);
});

describe('a parked delivery', () => {
  test.each([
    ['that somebody has goes on in the same object', false],
    ['that nobody has is sent as it was', true],
  ])('%s', async (_, isReleased) => {
    const clock = createManualClock();
    await using endpoint = await startEndpoint((count) => (count === 1 ? 500 : 200));
    const { server, referenceNumber } = await startWithPayment({
      callbackUrl: endpoint.url,
      clock,
      retryScheduleMs: [1_000],
      retrySigning: 'original',
    });
    await using _server = server;
    const delivery = await server.setStatus(referenceNumber, 'first');
    server.callbackUrl = undefined;
    for (let count = 0; count < 10_001; count += 1) await server.setStatus(referenceNumber, 'next');
    const states: string[] = [];
    server.subscribe((event) => {
      if (event.type === 'delivery') states.push(`${event.delivery.id} ${event.delivery.state}`);
    });
    // Not before: fetch needs references that hold.
    if (isReleased) vi.spyOn(WeakRef.prototype, 'deref').mockReturnValue(undefined);
    await clock.advance(1_000);
    const [sent, sentAgain] = endpoint.received;
    expect(sentAgain && parseBody(sentAgain)).toEqual(sent && parseBody(sent));
    expect(sentAgain?.headers['x-signature']).toBe(sent?.headers['x-signature']);
    expect(states).toEqual([`${delivery.id} sending`, `${delivery.id} acknowledged`]);
    expect(delivery.state).toBe(isReleased ? 'retrying' : 'acknowledged');
  });

  test('is retried in its turn, each attempt at its own time', async () => {
    const clock = createManualClock();
    const sent: string[] = [];
    await using endpoint = await startEndpoint((_, request) => {
      sent.push(`${parseBody(request).status} after ${clock.now() - startedAt} ms`);
      return sent.length > 4 ? 200 : 500;
    });
    const { server, referenceNumber } = await startWithPayment({
      callbackUrl: endpoint.url,
      clock,
      retryScheduleMs: [1_000, 500],
    });
    await using _ = server;
    const startedAt = clock.now();
    await server.setStatus(referenceNumber, 'first');
    await clock.advance(600);
    await server.setStatus(referenceNumber, 'second');
    server.callbackUrl = undefined;
    for (let count = 0; count < 10_001; count += 1) await server.setStatus(referenceNumber, 'next');
    await clock.advance(2_000);
    expect(sent).toEqual([
      'first after 0 ms',
      'second after 600 ms',
      'first after 1000 ms',
      'first after 1500 ms',
      'second after 1600 ms',
    ]);
  });

  test('is cancelled by a reset', async () => {
    const { server, referenceNumber } = await startWithPayment({
      callbackUrl: 'http://127.0.0.1:9/',
      clock: createManualClock(),
    });
    await using _ = server;
    const delivery = await server.setStatus(referenceNumber, 'first');
    server.callbackUrl = undefined;
    for (let count = 0; count < 10_000; count += 1) await server.setStatus(referenceNumber, 'next');
    server.reset();
    expect(delivery.state).toBe('cancelled');
  });
});

function order(count: number) {
  return { merchantPaymentReference: `order-${count}`, amount: count, currency: 'EUR' };
}

/** Creates so many that those of before are packed. */
function fill(book: PaymentBook): void {
  for (let count = 0; count < 10_000; count += 1) book.create(order(count));
}
