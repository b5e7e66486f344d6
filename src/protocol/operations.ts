import type { Issue } from '../errors.js';
import { findCreatePaymentIssues } from './creation.js';

/** An operation of the service, as the client sends it and the mock answers it. */
export interface Operation {
  readonly method: string;
  /** Path below the service's base address; `:id` stands for an identifier in it. */
  readonly path: string;
  /** Whether the method is safe: the operation creates nothing, however often it is sent. */
  readonly safe: boolean;
  /** Returns what is wrong with an input that the mock received; `undefined` if nothing is. */
  readonly findInputIssues: (input: unknown) => readonly Issue[] | undefined;
  /** The fields of the input, which are the fields of the body. */
  readonly inputFields: readonly string[];
}

/** The name of an operation: that of the client's method. */
export type OperationName = 'payments.create';

/** Every operation of the service that this package knows. */
export const operations = {
  /** Payment creation (interface section 4.1). */
  'payments.create': {
    method: 'POST',
    path: '/api/payments',
    safe: false,
    findInputIssues: findCreatePaymentIssues,
    inputFields: ['merchantPaymentReference', 'amount', 'currency'],
  },
} as const satisfies Readonly<Record<OperationName, Operation>>;
