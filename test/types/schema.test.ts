import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { FaultEntries } from '../../src/mock-server/faults/fault-catalogue.js';
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

it('the catalogue has the parameters of each fault, with their kinds', () => {
  const about = { on: 'request', text: '', creates: false } as const;
  const status = { kind: 'number', label: '', min: 400, max: 499 } as const;
  const body = { kind: 'json', label: '', default: {} } as const;
  const whole = { ...about, parameters: { status, body } } satisfies FaultEntries['client-error'];
  expect(Object.keys(whole.parameters)).toHaveLength(2);

  // @ts-expect-error a parameter is missing
  void ({ ...about, parameters: { status } } satisfies FaultEntries['client-error']);
  void ({
    ...about,
    // @ts-expect-error a parameter that the fault does not have
    parameters: { status, body, delayMs: status },
  } satisfies FaultEntries['client-error']);
  // @ts-expect-error a parameter of a fault that has none
  void ({ ...about, parameters: { status } } satisfies FaultEntries['hang']);
  // @ts-expect-error a parameter of another kind
  void ({ ...about, parameters: { status: body, body } } satisfies FaultEntries['client-error']);
  const mode = { kind: 'choice', label: '', choices: ['in-turn', 'sideways'] } as const;
  const sent = { on: 'callback', text: '', expects: '' } as const;
  // @ts-expect-error a choice that the type does not have
  void ({ ...sent, parameters: { mode, copies: status } } satisfies FaultEntries['duplicate']);
});
