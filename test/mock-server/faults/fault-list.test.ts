import { describe, expect, test } from 'vitest';
import { createMockService, type Fault } from '../../../src/mock-server/index.js';

const create = () => createMockService().faults;

describe('the list of faults', () => {
  test('shows the pending faults, oldest first, with their defaults and the remaining times', () => {
    const faults = create();
    faults.add({ on: 'request', type: 'hang' });
    faults.add({ on: 'callback', type: 'drop', times: 3, match: { status: 'paid' } });
    faults.add({ on: 'callback', type: 'extra-field', value: { a: [1] }, times: Infinity });
    expect(faults.pending()).toEqual([
      { on: 'request', type: 'hang', times: 1 },
      { on: 'callback', type: 'drop', times: 3, match: { status: 'paid' } },
      {
        on: 'callback',
        type: 'extra-field',
        field: 'mockExtraField',
        value: { a: [1] },
        times: Infinity,
      },
    ]);
  });

  test('counts down as a fault happens', async () => {
    const service = createMockService();
    service.faults.add({ on: 'request', type: 'html-error', times: 2 });
    await service.fetch(new Request('http://mock.test/'));
    expect(service.faults.pending()).toEqual([expect.objectContaining({ times: 1 })]);
    await service.fetch(new Request('http://mock.test/'));
    expect(service.faults.pending()).toEqual([]);
  });

  test('never uses up a fault with times Infinity', async () => {
    const service = createMockService();
    service.faults.add({ on: 'request', type: 'html-error', times: Infinity });
    for (let count = 0; count < 20; count += 1) {
      expect((await service.fetch(new Request('http://mock.test/'))).status).toBe(502);
    }
    expect(service.faults.pending()).toHaveLength(1);
  });

  test('is empty after clear()', () => {
    const faults = create();
    faults.add({ on: 'request', type: 'hang' });
    faults.clear();
    expect(faults.pending()).toEqual([]);
  });

  test('keeps and returns copies', () => {
    const faults = create();
    const value = { deep: 1 };
    const match = { status: 'paid' };
    const fault: Fault = { on: 'callback', type: 'extra-field', value, match };
    faults.add(fault);
    value.deep = 2;
    match.status = 'failed';
    const [first] = faults.pending();
    Object.assign(first?.match ?? {}, { status: 'other' });
    expect(faults.pending()).toEqual([
      expect.objectContaining({ value: { deep: 1 }, match: { status: 'paid' } }),
    ]);
  });
});

describe('a fault is refused, naming the field', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;

  test.each<[string, unknown]>([
    ['fault', undefined],
    ['fault', 'hang'],
    ['fault.on', {}],
    ['fault.on', { on: 'answer', type: 'hang' }],
    ['fault.type', { on: 'request' }],
    ['fault.type', { on: 'request', type: 'drop' }],
    ['fault.type', { on: 'callback', type: 'hang' }],
    ['fault.type', { on: 'callback', type: 'toString' }],
    ['fault.times', { on: 'request', type: 'hang', times: 0 }],
    ['fault.times', { on: 'request', type: 'hang', times: 1.5 }],
    ['fault.times', { on: 'request', type: 'hang', times: -Infinity }],
    ['fault.match', { on: 'request', type: 'hang', match: 'order-1' }],
    ['fault.match', { on: 'request', type: 'hang', match: null }],
    ['fault.match.status', { on: 'request', type: 'hang', match: { status: 'paid' } }],
    ['fault.match.path', { on: 'callback', type: 'drop', match: { path: '/' } }],
    ['fault.match.method', { on: 'request', type: 'hang', match: { method: '' } }],
    ['fault.match.attempt', { on: 'callback', type: 'drop', match: { attempt: 0 } }],
    ['fault.match.toString', { on: 'callback', type: 'drop', match: { toString: 'x' } }],
    ['fault.delay', { on: 'request', type: 'delay', delay: 5 }],
    ['fault.delayMs', { on: 'request', type: 'delay' }],
    ['fault.delayMs', { on: 'request', type: 'delay', delayMs: -1 }],
    ['fault.delayMs', { on: 'request', type: 'delay', delayMs: 2_147_483_648 }],
    ['fault.retryAfterSeconds', { on: 'request', type: 'rate-limit', retryAfterSeconds: 0.5 }],
    ['fault.status', { on: 'request', type: 'server-error', status: 499 }],
    ['fault.status', { on: 'request', type: 'server-error', status: 600 }],
    ['fault.status', { on: 'request', type: 'server-error', status: '500' }],
    ['fault.mode', { on: 'callback', type: 'duplicate', mode: 'twice' }],
    ['fault.copies', { on: 'callback', type: 'duplicate', copies: 0 }],
    ['fault.copies', { on: 'callback', type: 'duplicate', copies: 101 }],
    ['fault.bySeconds', { on: 'callback', type: 'stale-timestamp', bySeconds: 0 }],
    ['fault.bySeconds', { on: 'callback', type: 'future-timestamp', bySeconds: Number.NaN }],
    ['fault.header', { on: 'callback', type: 'missing-header', header: 'host' }],
    ['fault.status', { on: 'callback', type: 'unknown-status', status: '' }],
    ['fault.field', { on: 'callback', type: 'extra-field', field: 5 }],
    ['fault.value.self', { on: 'callback', type: 'extra-field', value: circular }],
    ['fault.value', { on: 'callback', type: 'extra-field', value: new Map() }],
    ['fault.value.at', { on: 'callback', type: 'extra-field', value: { at: Number.NaN } }],
    ['fault.value', { on: 'callback', type: 'extra-field', value: () => 1 }],
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

  test('and listing the known fields', () => {
    expect(() =>
      create().add({ on: 'callback', type: 'drop', after: 5 } as unknown as Fault),
    ).toThrowError('fault.after is not a known option; the options are on, type, times, match');
  });
});

test('a fault of every type is accepted with its defaults', () => {
  const faults = create();
  const requests = [
    'unauthorized',
    'rate-limit',
    'server-error',
    'html-error',
    'malformed-json',
    'truncated-body',
    'empty-body',
    'reset-before-headers',
    'reset-in-body',
    'hang',
    'lost-answer',
  ] as const;
  const callbacks = [
    'duplicate',
    'reorder',
    'drop',
    'late-callback',
    'stale-timestamp',
    'future-timestamp',
    'tampered-body',
    'wrong-secret',
    'missing-header',
    'reserialized-body',
    'unknown-status',
    'missing-field',
    'extra-field',
  ] as const;
  for (const type of requests) faults.add({ on: 'request', type });
  for (const type of callbacks) faults.add({ on: 'callback', type });
  faults.add({ on: 'request', type: 'delay', delayMs: 0 });
  expect(faults.pending()).toHaveLength(25);
});
