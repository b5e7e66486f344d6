import { findCreatePaymentIssues } from './creation.js';

/** The name of an operation: that of the client's method. */
export type OperationName = 'payments.create';

/** Every operation of the service that this package knows, as the client sends it and the mock answers it. */
export const operations = {
  /** Payment creation (interface section 4.1). */
  'payments.create': {
    method: 'POST',
    /** Below the service's base address; `:id` stands for an identifier in it. */
    path: '/api/payments',
    /** Whether the method is safe: it creates nothing, however often it is sent. */
    safe: false,
    /** What is wrong with an input that the mock received; `undefined` if nothing is. */
    findInputIssues: findCreatePaymentIssues,
    /** The fields of the input, which are the fields of the body. */
    inputFields: ['merchantPaymentReference', 'amount', 'currency'],
  },
} as const satisfies Readonly<Record<OperationName, object>>;
