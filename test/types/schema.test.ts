import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { Fault } from '../../src/mock-server/index.js';
import type { CreatePaymentInput } from '../../src/protocol/payment.js';
import type { ShapeOf } from '../../src/protocol/schema.js';

interface Answer {
  status: number;
  contentType?: string | undefined;
  body?: unknown;
}

// A schema and the interface that it checks can't drift apart: these lines do not compile.

const text = z.string();
const number = z.number();

it('a schema has the fields of its interface, with their types', () => {
  const creation = {
    merchantPaymentReference: text,
    amount: number,
    currency: text,
  } satisfies ShapeOf<CreatePaymentInput>;
  const answer = {
    status: number,
    contentType: z.optional(text),
    body: z.unknown(),
  } satisfies ShapeOf<Answer>;
  expect([...Object.keys(creation), ...Object.keys(answer)]).toHaveLength(6);

  // @ts-expect-error a field is missing
  void ({ merchantPaymentReference: text, amount: number } satisfies ShapeOf<CreatePaymentInput>);
  // @ts-expect-error an optional field is missing
  void ({ status: number, body: z.unknown() } satisfies ShapeOf<Answer>);
  void ({
    ...creation,
    // @ts-expect-error a field that the interface does not have
    amuont: number,
  } satisfies ShapeOf<CreatePaymentInput>);
  void ({
    merchantPaymentReference: text,
    // @ts-expect-error a field of another type
    amount: text,
    currency: text,
  } satisfies ShapeOf<CreatePaymentInput>);
  void ({
    // @ts-expect-error a field that may be absent, but not in the interface
    status: z.optional(number),
    contentType: z.optional(text),
    body: z.unknown(),
  } satisfies ShapeOf<Answer>);
});

it('a fault has the fields that its entry of the catalogue names, with their kinds', () => {
  const faults: Fault[] = [
    { on: 'request', type: 'delay', delayMs: 5 },
    { on: 'request', type: 'client-error', status: 422, body: [1], times: 2 },
    { on: 'request', type: 'hang', match: { method: 'POST' } },
    { on: 'callback', type: 'duplicate', mode: 'at-once', match: { attempt: 1 } },
  ];
  expect(faults).toHaveLength(4);

  // @ts-expect-error a field that has no default is missing
  void ({ on: 'request', type: 'delay' } satisfies Fault);
  // @ts-expect-error a field of another fault
  void ({ on: 'request', type: 'hang', delayMs: 5 } satisfies Fault);
  // @ts-expect-error a field of another type
  void ({ on: 'request', type: 'server-error', status: '500' } satisfies Fault);
  // @ts-expect-error another choice
  void ({ on: 'callback', type: 'duplicate', mode: 'sideways' } satisfies Fault);
  // @ts-expect-error a fault on callbacks
  void ({ on: 'request', type: 'drop' } satisfies Fault);
  // @ts-expect-error what a fault on requests can't match
  void ({ on: 'request', type: 'hang', match: { attempt: 1 } } satisfies Fault);
});
