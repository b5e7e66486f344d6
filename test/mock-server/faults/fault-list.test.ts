import { describe, expect, test } from 'vitest';
import { faultCatalogue } from '../../../src/mock-server/faults/fault-catalogue.js';
import { createMockService, type Fault } from '../../../src/mock-server/index.js';

const create = () => createMockService().faults;

describe('the list of faults', () => {
  test('shows the pending faults, oldest first, with their defaults and the remaining times', () => {
    const faults = create();
    faults.add({ on: 'request', type: 'hang' });
    faults.add({ on: 'callback', type: 'drop', times: 3, match: { status: 'paid' } });
    faults.add({ on: 'request', type: 'client-error', body: { a: [1] }, times: Infinity });
    expect(faults.pending()).toEqual([
      { on: 'request', type: 'hang', times: 1 },
      { on: 'callback', type: 'drop', times: 3, match: { status: 'paid' } },
      { on: 'request', type: 'client-error', status: 409, body: { a: [1] }, times: Infinity },
    ]);
  });

  test('never uses up a fault with times Infinity', async () => {
    const service = createMockService();
    service.faults.add({ on: 'request', type: 'html-error', times: Infinity });
    for (let count = 0; count < 20; count += 1) {
      expect((await service.fetch(new Request('http://mock.test/'))).status).toBe(502);
    }
    expect(service.faults.pending()).toHaveLength(1);
  });

  test('keeps and returns copies', () => {
    const faults = create();
    const body = { deep: 1 };
    const match = { method: 'POST' };
    const fault: Fault = { on: 'request', type: 'client-error', body, match };
    faults.add(fault);
    body.deep = 2;
    match.method = 'PUT';
    const [first] = faults.pending();
    Object.assign(first?.match ?? {}, { method: 'GET' });
    expect(faults.pending()).toEqual([
      expect.objectContaining({ body: { deep: 1 }, match: { method: 'POST' } }),
    ]);
  });
});

describe('a fault is refused, naming the field', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;

  test.each<[string, unknown]>([
    ['fault', undefined],
    ['fault', 'hang'],
    ['fault.on', { on: 'answer', type: 'hang' }],
    ['fault.type', { on: 'request' }],
    ['fault.type', { on: 'request', type: 'drop' }],
    ['fault.times', { on: 'request', type: 'hang', times: 0 }],
    ['fault.times', { on: 'request', type: 'hang', times: 1.5 }],
    ['fault.match', { on: 'request', type: 'hang', match: 'order-1' }],
    ['fault.match.status', { on: 'request', type: 'hang', match: { status: 'paid' } }],
    ['fault.match.path', { on: 'callback', type: 'drop', match: { path: '/' } }],
    ['fault.match.method', { on: 'request', type: 'hang', match: { method: '' } }],
    ['fault.match.attempt', { on: 'callback', type: 'drop', match: { attempt: 0 } }],
    ['fault.delayMs', { on: 'request', type: 'delay' }],
    ['fault.delayMs', { on: 'request', type: 'delay', delayMs: 2_147_483_648 }],
    ['fault.retryAfterSeconds', { on: 'request', type: 'rate-limit', retryAfterSeconds: 0.5 }],
    ['fault.status', { on: 'request', type: 'server-error', status: 499 }],
    ['fault.status', { on: 'request', type: 'server-error', status: 600 }],
    ['fault.status', { on: 'request', type: 'client-error', status: 500 }],
    ['fault.status', { on: 'request', type: 'html-error', status: 199 }],
    ['fault.mode', { on: 'callback', type: 'duplicate', mode: 'twice' }],
    ['fault.copies', { on: 'callback', type: 'duplicate', copies: 0 }],
    ['fault.copies', { on: 'callback', type: 'duplicate', copies: 101 }],
    ['fault.body', { on: 'request', type: 'client-error', body: circular }],
    ['fault.body.at', { on: 'request', type: 'client-error', body: { at: Number.NaN } }],
  ])('%s: %j', (option, fault) => {
    const faults = create();
    expect(() => faults.add(fault as Fault)).toThrowError(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        option,
        message: expect.stringContaining(option),
      }),
    );
    expect(faults.pending()).toEqual([]);
  });
});

test('a fault of every type is accepted with its defaults', () => {
  const faults = create();
  for (const [type, { on, parameters = {} }] of Object.entries(faultCatalogue)) {
    // The two that need one.
    faults.add({ on, type, ...('delayMs' in parameters && { delayMs: 0 }) } as Fault);
  }
  expect(faults.pending()).toHaveLength(Object.keys(faultCatalogue).length);
});
