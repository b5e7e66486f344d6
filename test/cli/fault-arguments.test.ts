import { describe, expect, test } from 'vitest';
import { readFaultMatch, readFaultType } from '../../src/cli/commands/faults.js';
import {
  faultCatalogue,
  faultTargets,
  faultTypesOn,
} from '../../src/mock-server/faults/fault-catalogue.js';
import type { Fault } from '../../src/mock-server/index.js';
import { createMockService } from '../../src/mock-server/service.js';

const samples: Readonly<Record<string, string>> = {
  status: '503',
  delayMs: '1',
  retryAfterSeconds: '2',
  mode: 'at-once',
  copies: '3',
  body: '{"code":"A"}',
};

/** Where a field of this name has other values. */
const special: Readonly<Record<string, typeof samples>> = {
  'client-error': { status: '422' },
};

describe.each(faultTargets)('a fault on a %s', (on) => {
  test.each(faultTypesOn(on))('%s is taken by the mock with all its fields', (type) => {
    const own: typeof samples = { ...samples, ...special[type] };
    const set = Object.keys(faultCatalogue[type].parameters ?? {}).map(
      (name) => `${name}=${own[name]}`,
    );
    const service = createMockService();
    service.faults.add(readFaultType(on, type, set) as unknown as Fault);
    expect(service.faults.pending()).toMatchObject([{ on, type }]);
  });
});

describe('the fields of a fault', () => {
  test('are numbers, texts or JSON, as each one is', () => {
    expect(readFaultType('request', 'server-error', ['status=503'])).toEqual({
      on: 'request',
      type: 'server-error',
      status: 503,
    });
    expect(readFaultType('request', 'client-error', ['body=a=b'])).toMatchObject({ body: 'a=b' });
    expect(readFaultType('request', 'client-error', ['body=[1]'])).toMatchObject({ body: [1] });
    expect(readFaultMatch('callback', ['attempt=2', 'status=7'])).toEqual({
      attempt: 2,
      status: '7',
    });
  });

  test.each([
    [() => readFaultType('request', 'delay', ['delayMs=soon']), '--set delayMs must be a decimal'],
    [() => readFaultType('request', 'delay', ['delay=1']), '--set delay is not a field of a delay'],
    [() => readFaultType('request', 'hang', ['a=1']), 'it has none'],
    [() => readFaultType('callback', 'delay', []), 'there is no fault "delay" on a callback'],
    [() => readFaultType('callback', 'nonsense', []), 'available: duplicate, reorder,'],
    [() => readFaultMatch('request', ['status=paid']), '--match status is not a field'],
  ])('are refused: %s', (read, message) => {
    expect(read).toThrow(message);
  });
});
