import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/store/memory.js';
import { ContractService } from '../contract/store/service.js';
import { failingLoggers, recordLines } from '../protocol/recorded-lines.js';
import { changeOf, paid, settle } from './orders.js';
import { outcomeOf } from './outcome-of.js';

const order = { merchantPaymentReference: 'order-1', amount: 2500, currency: 'EUR' };
function open() {
  const service = new ContractService();
  const { lines, logger } = recordLines();
  const clock = { nowMs: Date.now() };
  const store = memoryStore({ client: service.client, logger, now: () => clock.nowMs });
  return { service, store, lines, clock };
}

const durationMs = expect.any(Number);

describe('the logger of a store', () => {
  it('gets one line at debug for each successful operation', async () => {
    const { store, lines } = open();
    await store.record(order, { tx: undefined });
    await store.send('order-1');
    await store.create(order);
    await store.recover();
    await outcomeOf(store, changeOf(), async () => {});
    const payment = { state: 'created', attempts: 1, durationMs };
    expect(lines).toEqual(
      [
        { operation: 'record', durationMs },
        { operation: 'send', ...payment, replayed: false },
        { operation: 'create', ...payment, replayed: true },
        { operation: 'recover', resent: 0, unresolved: 0, durationMs },
      ].map((fields) => ({
        level: 'debug',
        message: `merchant-payments: store ${fields.operation} done`,
        fields,
      })),
    );
  });

  it('gets an unresolved payment at warn, and the decision about it at debug', async () => {
    const { service, store, lines } = open();
    service.answer('order-1', 'answer-lost');
    await store.create(order);
    await store.markCreated('order-1', { referenceNumber: 'PAY-1' });
    expect(lines).toMatchObject([
      {
        level: 'warn',
        message: 'merchant-payments: a payment is unresolved',
        fields: {
          merchantPaymentReference: 'order-1',
          state: 'unresolved',
          code: 'CONNECTION_FAILED',
          requestOutcome: 'unknown',
        },
      },
      { level: 'debug', fields: { operation: 'markCreated', durationMs } },
    ]);
  });

  it.each([
    ['answer-lost', 'ended early', { unresolved: 1, code: 'CONNECTION_FAILED' }],
    [409, 'found unresolved payments', { unresolved: 1 }],
    [422, 'had payments rejected', { unresolved: 0, rejected: 1 }],
    [429, 'ended early', { unresolved: 0, requestOutcome: 'rejected' }],
  ] as const)('gets a round of recovery at warn that meets %s', async (answer, what, fields) => {
    const { service, store, lines } = open();
    await store.record(order, { tx: undefined });
    service.answer('order-1', answer);
    await store.recover();
    expect(lines[1]).toMatchObject({
      level: 'warn',
      message: `merchant-payments: store recover ${what}`,
      fields: { operation: 'recover', resent: 1, durationMs, ...fields },
    });
  });

  it('gets the reference as given, even if the input changes afterwards', async () => {
    const { service, store, lines } = open();
    const input = { ...order };
    service.answer('order-1', 'answer-lost');
    const created = store.create(input);
    input.merchantPaymentReference = 'order-2';
    await created;
    expect(lines[0]).toMatchObject({ fields: { merchantPaymentReference: 'order-1' } });
  });

  it('gets a payment that was not created at warn, with the code and without the message', async () => {
    const { service, store, lines } = open();
    service.answer('order-1', 422);
    expect(await store.create(order)).toMatchObject({ error: { httpStatus: 422 } });
    service.answer('order-1', 'refused');
    await store.create(order);
    const line = {
      operation: 'create',
      merchantPaymentReference: 'order-1',
      replayed: false,
      durationMs,
    };
    const refused = { requestOutcome: 'rejected', serviceCode: 'REFUSED', httpStatus: 422 };
    expect(lines.map(({ fields }) => fields)).toEqual([
      { ...line, state: 'rejected', attempts: 1, code: 'API_ERROR', ...refused },
      {
        ...line,
        state: 'recorded',
        attempts: 2,
        code: 'CONNECTION_FAILED',
        requestOutcome: 'not-sent',
      },
    ]);
    expect(lines[0]).toMatchObject({
      level: 'warn',
      message: 'merchant-payments: a payment was not created',
    });
  });

  it('gets a failure at error, with the code and without the message, and the caller gets the error', async () => {
    const { store, lines } = open();
    await expect(store.create({ ...order, currency: 'euro' })).rejects.toThrow(/currency/);
    await expect(store.send('order-2')).rejects.toMatchObject({ code: 'UNKNOWN_REFERENCE' });
    await expect(store.create(undefined as never)).rejects.toThrow();
    expect(lines.map(({ level }) => level)).toEqual(['error', 'error', 'error']);
    const refused = (merchantPaymentReference: string) => {
      return { operation: 'create', merchantPaymentReference, durationMs };
    };
    expect(lines.map(({ fields }) => fields)).toEqual([
      { ...refused('order-1'), code: 'INVALID_REQUEST', requestOutcome: 'not-sent' },
      { ...refused('order-2'), operation: 'send', code: 'UNKNOWN_REFERENCE' },
      { operation: 'create', code: 'INVALID_REQUEST', requestOutcome: 'not-sent', durationMs },
    ]);
    expect(lines[0]?.message).toBe('merchant-payments: store create failed');
  });

  it('gets no code for an error of another package', async () => {
    const { lines, logger } = recordLines();
    const { client } = new ContractService();
    const store = memoryStore({
      client,
      logger,
      now: () => {
        throw Object.assign(new Error('the clock of order-1'), { code: 'ECLOCK' });
      },
    });
    await expect(store.create(order)).rejects.toThrow('the clock of order-1');
    expect(lines[0]?.fields).toEqual({
      operation: 'create',
      merchantPaymentReference: 'order-1',
      durationMs,
    });
  });

  it('gets both references at warn and error, as far as they are known, and at debug none', async () => {
    const { service, store, lines } = open();
    await store.record(order, { tx: undefined });
    service.answer('order-1', 'answer-lost');
    await store.send('order-1');
    const listed = { merchantPaymentReference: 'order-1', attempts: 7, listedAt: new Date() };
    await expect(store.markNotCreated(listed)).rejects.toThrow();
    await store.markCreated('order-1', { referenceNumber: 'PAY-1' });
    await expect(store.markCreated('order-1', { referenceNumber: 'PAY-2' })).rejects.toThrow();
    await store.create(order);
    await settle(store, paid('order-1', 'second'));
    const shown = lines.map(({ level, fields: { merchantPaymentReference, referenceNumber } }) => {
      return [level, merchantPaymentReference, referenceNumber];
    });
    expect(shown).toEqual([
      ['debug', undefined, undefined],
      ['warn', 'order-1', undefined],
      ['error', 'order-1', undefined],
      ['debug', undefined, undefined],
      ['error', 'order-1', 'PAY-2'],
      ['debug', undefined, undefined],
    ]);
  });

  it('gets a payment that lookUp has found paid, and of which no callback has come, at error', async () => {
    const { service, store, lines, clock } = open();
    await store.create(order);
    const [referenceNumber = ''] = service.paymentsOf('order-1');
    for (const status of ['pending', 'declined', 'paid']) {
      clock.nowMs += 86_400_000 * 2 ** lines.length;
      await store.recover({ lookUp: () => ({ referenceNumber, status }) });
    }
    expect(lines.filter(({ level }) => level !== 'debug')).toEqual([
      {
        level: 'error',
        message:
          'merchant-payments: a payment is paid at the service, and no callback about it has come',
        fields: { operation: 'recover', merchantPaymentReference: 'order-1', referenceNumber },
      },
    ]);
  });

  it('gets at most 256 characters of a reference, and no control', async () => {
    const { store, lines } = open();
    for (const reference of ['r'.repeat(300), 'a\u009bb\n']) {
      await expect(store.send(reference)).rejects.toThrow();
    }
    const shown = lines.map(({ fields }) => fields['merchantPaymentReference']);
    expect(shown).toEqual(['r'.repeat(256), 'a b']);
  });

  it.each(failingLoggers)('changes nothing when it $how', async ({ logger }) => {
    const { client } = new ContractService();
    const store = memoryStore({ client, logger });
    expect(await store.create(order)).toMatchObject({ state: 'created' });
    await expect(store.send('order-2')).rejects.toMatchObject({ code: 'UNKNOWN_REFERENCE' });
  });
});
