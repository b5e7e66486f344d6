import { describe, expect, it } from 'vitest';
import { memoryOutbox } from '../../src/store/memory-outbox.js';
import { ContractService } from '../contract/outbox/service.js';
import { failingLoggers, recordLines } from '../protocol/recorded-lines.js';

const order = { merchantPaymentReference: 'order-1', amount: 2500, currency: 'EUR' };
const record = {
  ...order,
  referenceNumber: 'second',
  providerReference: 'provider-1',
  status: 'paid',
  createdAt: '2026-01-31T12:00:00Z',
  updatedAt: '2026-01-31T12:00:00Z',
};

function open(options: { logReferences?: boolean } = {}) {
  const service = new ContractService();
  const { lines, logger } = recordLines();
  const outbox = memoryOutbox({ client: service.client, logger, ...options });
  return { service, outbox, lines };
}

const durationMs = expect.any(Number);

describe('the logger of an outbox', () => {
  it('gets one line at debug for each successful operation', async () => {
    const { outbox, lines } = open();
    await outbox.record(order, { tx: undefined });
    await outbox.send('order-1');
    await outbox.create(order);
    await outbox.recover();
    await outbox.settle({ ...record, merchantPaymentReference: 'x' }, { tx: undefined });
    const payment = { state: 'created', attempts: 1, durationMs };
    expect(lines).toEqual(
      [
        { operation: 'record', durationMs },
        { operation: 'send', ...payment, replayed: false },
        { operation: 'create', ...payment, replayed: true },
        { operation: 'recover', resent: 0, unresolved: 0, durationMs },
        { operation: 'settle', settled: 'not-ours', durationMs },
      ].map((fields) => ({
        level: 'debug',
        message: `merchant-payments: outbox ${fields.operation} done`,
        fields,
      })),
    );
  });

  it('gets an unresolved payment at warn, and its resolution at debug', async () => {
    const { service, outbox, lines } = open();
    service.answer('order-1', 'answer-lost');
    await outbox.create(order);
    await outbox.resolve('order-1', { created: { referenceNumber: 'PAY-1' } }, { attempts: 1 });
    expect(lines).toMatchObject([
      {
        level: 'warn',
        message: 'merchant-payments: a payment is unresolved',
        fields: { state: 'unresolved', code: 'CONNECTION_FAILED', requestOutcome: 'unknown' },
      },
      { level: 'debug', fields: { operation: 'resolve', durationMs } },
    ]);
  });

  it('gets a round of recovery that leaves a payment unresolved at warn', async () => {
    const { service, outbox, lines } = open();
    await outbox.record(order, { tx: undefined });
    service.answer('order-1', 'answer-lost');
    await outbox.recover();
    expect(lines[1]).toEqual({
      level: 'warn',
      message: 'merchant-payments: outbox recover ended early',
      fields: {
        operation: 'recover',
        resent: 1,
        unresolved: 1,
        code: 'CONNECTION_FAILED',
        requestOutcome: 'unknown',
        durationMs,
      },
    });
  });

  it('gets a round of recovery that finds a reference in use at warn', async () => {
    const { service, outbox, lines } = open();
    await outbox.record(order, { tx: undefined });
    service.answer('order-1', 409);
    await outbox.recover();
    expect(lines[1]).toEqual({
      level: 'warn',
      message: 'merchant-payments: outbox recover found unresolved payments',
      fields: { operation: 'recover', resent: 1, unresolved: 1, durationMs },
    });
  });

  it('gets a round of recovery with rejected payments at warn', async () => {
    const { service, outbox, lines } = open();
    await outbox.record(order, { tx: undefined });
    service.answer('order-1', 422);
    expect(await outbox.recover()).toEqual({ resent: 1, unresolved: 0, rejected: 1 });
    expect(lines[1]).toEqual({
      level: 'warn',
      message: 'merchant-payments: outbox recover had payments rejected',
      fields: { operation: 'recover', resent: 1, unresolved: 0, rejected: 1, durationMs },
    });
  });

  it('gets a round of recovery that ended early at warn, with the reason', async () => {
    const { service, outbox, lines } = open();
    await outbox.record(order, { tx: undefined });
    service.answer('order-1', 429);
    expect(await outbox.recover()).toMatchObject({ resent: 1, error: { httpStatus: 429 } });
    expect(lines[1]).toMatchObject({
      level: 'warn',
      message: 'merchant-payments: outbox recover ended early',
      fields: { operation: 'recover', resent: 1, unresolved: 0, requestOutcome: 'rejected' },
    });
  });

  it('does not change the error for a missing payment', async () => {
    const { outbox, lines } = open({ logReferences: true });
    const calls = [
      outbox.create(undefined as never),
      outbox.record(undefined as never, { tx: undefined }),
      outbox.settle(undefined as never, { tx: undefined }),
    ];
    for (const call of calls) {
      await expect(call).rejects.toMatchObject({ code: expect.stringMatching(/^INVALID_/) });
    }
    expect(lines.map(({ message }) => message)).toEqual([
      'merchant-payments: outbox create failed',
      'merchant-payments: outbox record failed',
      'merchant-payments: outbox settle failed',
    ]);
  });

  it('gets the reference as given, even if the input changes afterwards', async () => {
    const { outbox, lines } = open({ logReferences: true });
    const input = { ...order };
    const created = outbox.create(input);
    input.merchantPaymentReference = 'order-2';
    await created;
    expect(lines[0]).toMatchObject({ fields: { merchantPaymentReference: 'order-1' } });
  });

  it('gets a second payment at error', async () => {
    const { outbox, lines } = open();
    await outbox.create(order);
    await outbox.settle(record, { tx: undefined });
    expect(lines[1]).toMatchObject({
      level: 'error',
      message: 'merchant-payments: an order has a second payment',
      fields: { operation: 'settle', settled: 'second-payment' },
    });
  });

  it('gets a failure at error, with the code and without the message, and the caller gets the error', async () => {
    const { service, outbox, lines } = open();
    service.answer('order-1', 422);
    await expect(outbox.create(order)).rejects.toMatchObject({ httpStatus: 422 });
    await expect(outbox.create({ ...order, currency: 'euro' })).rejects.toThrow(/currency/);
    await expect(outbox.send('order-2')).rejects.toMatchObject({ code: 'UNKNOWN_REFERENCE' });
    await expect(outbox.create(undefined as never)).rejects.toThrow();
    expect(lines.map(({ level }) => level)).toEqual(['error', 'error', 'error', 'error']);
    expect(lines.map(({ fields }) => fields)).toEqual([
      { operation: 'create', code: 'API_ERROR', requestOutcome: 'rejected', durationMs },
      { operation: 'create', code: 'INVALID_REQUEST', requestOutcome: 'not-sent', durationMs },
      { operation: 'send', code: 'UNKNOWN_REFERENCE', durationMs },
      { operation: 'create', code: 'INVALID_REQUEST', requestOutcome: 'not-sent', durationMs },
    ]);
    expect(lines[0]?.message).toBe('merchant-payments: outbox create failed');
  });

  it('gets no code for an error of another package', async () => {
    const { lines, logger } = recordLines();
    const { client } = new ContractService();
    const outbox = memoryOutbox({
      client,
      logger,
      now: () => {
        throw Object.assign(new Error('the clock of order-1'), { code: 'ECLOCK' });
      },
    });
    await expect(outbox.create(order)).rejects.toThrow('the clock of order-1');
    expect(lines[0]?.fields).toEqual({ operation: 'create', durationMs });
  });

  it('shows references where that is turned on', async () => {
    const { service, outbox, lines } = open({ logReferences: true });
    await outbox.record(order, { tx: undefined });
    service.answer('order-1', 'answer-lost');
    await outbox.send('order-1');
    await outbox.resolve('order-1', { created: { referenceNumber: 'PAY-1' } }, { attempts: 1 });
    await outbox.create(order);
    await outbox.settle(record, { tx: undefined });
    await outbox.recover();
    expect(lines.map(({ fields }) => fields['merchantPaymentReference'])).toEqual([
      ...Array(5).fill('order-1'),
      undefined,
    ]);
  });

  it('shows none otherwise', async () => {
    const { outbox, lines } = open();
    await outbox.create(order);
    await outbox.settle(record, { tx: undefined });
    expect(JSON.stringify(lines)).not.toContain('order-1');
  });

  it.each(failingLoggers)('changes nothing when it $how', async ({ logger }) => {
    const { client } = new ContractService();
    const outbox = memoryOutbox({ client, logger });
    expect(await outbox.create(order)).toMatchObject({ state: 'created' });
    await expect(outbox.send('order-2')).rejects.toMatchObject({ code: 'UNKNOWN_REFERENCE' });
  });
});
