// The usual changes, each as small as it can be made and still pass: recipes in CONTRIBUTING.md.

const listSubpath = (name, after) => ({
  'scripts/subpaths.mjs': [[`  '${after}',\n`, `  '${after}',\n  '${name}',\n`]],
  'llms.txt': [
    [
      `- [merchant-payments/${after}]`,
      `- [merchant-payments/${name}](docs/imports.md): made to be counted\n- [merchant-payments/${after}]`,
    ],
  ],
});

export const changes = [
  {
    name: 'a new subpath',
    atMost: 3,
    write: {
      'src/example/index.ts': `/**
 * Made to be counted.
 *
 * @module merchant-payments/example
 */
export { MerchantPaymentsError } from '../errors.js';
`,
    },
    edit: listSubpath('example', 'lambda'),
    run: [
      'node scripts/subpaths.mjs --write',
      'node scripts/build.mjs',
      'node --eval require("merchant-payments/example").MerchantPaymentsError.name',
      'vitest run --project logic test/release/subpaths.test.ts test/docs/llms.test.ts',
    ],
  },
  {
    name: 'an inbox for another store',
    atMost: 3,
    own: 'src/inbox/example/',
    write: {
      'src/inbox/example/index.ts': `/**
 * An inbox made to be counted.
 *
 * @module merchant-payments/inbox/example
 */
export { exampleInbox } from './example-inbox.js';
`,
      'src/inbox/example/example-inbox.ts': `import type { CallbackInbox } from '../inbox.js';
import { memoryInbox } from '../memory.js';

/** An inbox made to be counted. */
export function exampleInbox(store: object): CallbackInbox {
  const stores = (shared.get(store) ?? memoryInbox()) as CallbackInbox;
  shared.set(store, stores);
  return stores;
}

const shared = new WeakMap<object, CallbackInbox>();
`,
      'test/contract/example.test.ts': `import { exampleInbox } from '../../src/inbox/example/index.js';
import { describeInboxContract } from './inbox.js';

const store = {};
describeInboxContract('exampleInbox', () => ({ create: () => exampleInbox(store), waitMs: 0 }));
`,
    },
    edit: listSubpath('inbox/example', 'inbox/sqlite'),
    run: [
      'node scripts/subpaths.mjs --write',
      'vitest run --project logic test/contract/example.test.ts test/release/subpaths.test.ts test/docs/llms.test.ts',
    ],
  },
  {
    name: 'a new fault',
    atMost: 3,
    write: {
      'test/mock-server/faults/conflict.test.ts': `import { expect, it } from 'vitest';
import { createMockService } from '../../../src/mock-server/index.js';

it('answers 409', async () => {
  const service = createMockService();
  service.faults.add({ on: 'request', type: 'conflict' });
  const answer = await service.fetch(new Request('https://payments.example/api/payments'));
  expect(answer.status).toBe(409);
});
`,
    },
    edit: {
      'src/mock-server/faults/fault.ts': [
        ["        | 'hang'\n", "        | 'hang'\n        | 'conflict'\n"],
      ],
      'src/mock-server/faults/fault-catalogue.ts': [
        [
          '  hang: {',
          "  conflict: { on: 'request', text: 'answers 409', creates: false },\n  hang: {",
        ],
      ],
      'src/mock-server/api/request-faults.ts': [
        [
          "    case 'unauthorized':",
          `    case 'conflict':
      return errorAnswer(requestId, { status: 409, code: 'CONFLICT', message: 'It exists.' });
    case 'unauthorized':`,
        ],
      ],
      'docs/faults.md': [
        ['| `hang` |', '| `conflict` | answers 409 | no |\n| `hang` |'],
      ],
    },
    run: ['vitest run --project logic test/mock-server/faults test/docs/guides.test.ts'],
  },
  {
    name: 'a new error code',
    atMost: 2,
    edit: {
      'src/error-codes.ts': [["    'STALE_CHANGE',\n", "    'STALE_CHANGE',\n    'EMPTY_KEY',\n"]],
      'src/inbox/memory.ts': [
        ['import {\n', "import { StoreError } from '../errors.js';\nimport {\n"],
        [
          '      warnInProduction();\n',
          "      if (event.key === '') throw new StoreError('EMPTY_KEY', 'key must not be empty');\n      warnInProduction();\n",
        ],
      'docs/errors.md': [
        [
          '| `CHANGE_PARKED`',
          '| `EMPTY_KEY` | `StoreError` | made to be counted | nothing |\n| `CHANGE_PARKED`',
    },
    run: ['vitest run --project logic test/errors.test.ts test/docs/errors-table.test.ts'],
  },
  {
    name: 'payments.get',
    atMost: 4,
    write: {
      'test/client/get.test.ts': `import { expect, it } from 'vitest';
import { PaymentClient } from '../../src/index.js';
import { startMockServer } from '../../src/mock-server/index.js';

it('reads a payment from the mock', async () => {
  await using service = await startMockServer();
  const { url: baseUrl, apiKey, apiSecret } = service;
  await using client = new PaymentClient({ baseUrl, apiKey, apiSecret });
  const input = { merchantPaymentReference: 'order-1001', amount: 1, currency: 'EUR' };
  const { payment } = await client.payments.create(input);
  const found = await client.payments.get(payment.referenceNumber ?? '');
  expect(found.payment).toEqual(payment);
});
`,
    },
    edit: {
      'src/protocol/operations.ts': [
        ["OperationName = 'payments.create'", "OperationName = 'payments.create' | 'payments.get'"],
        [
          "  'payments.create': {",
          `  'payments.get': {
    method: 'GET',
    path: '/api/payments/:id',
    safe: true,
    findInputIssues: () => undefined,
    inputFields: [],
  },
  'payments.create': {`,
        ],
      ],
      'src/mock-server/api/gateway.ts': [
        [
          "    'payments.create': (",
          `    'payments.get': (_input, id) => {
      const payment = payments.get(id);
      return payment ? jsonAnswer(200, toStatusRecord(payment)) : jsonAnswer(404, {});
    },
    'payments.create': (`,
        ],
      ],
      'src/client/prepared-request.ts': [
        [
          '  /**\n   * A request for any operation.',
          `  getPayment(referenceNumber: string): RequestDraft {
    const { method, path, safe } = operations['payments.get'];
    return this.#draft(method, safe, path.replace(':id', encodeURIComponent(referenceNumber)), undefined);
  }

  /**
   * A request for any operation.`,
        ],
      ],
      'src/client/payment-client.ts': [
        [
          'export interface Payments {\n',
          'export interface Payments {\n  /** Reads a payment. */\n  get(referenceNumber: string): Promise<CreatePaymentResult>;\n',
        ],
        [
          '    this.payments = {\n',
          `    this.payments = {
      get: async (referenceNumber: string) => {
        const settings = this.#ready();
        return this.#create({
          operation: 'payments.get',
          settings,
          draft: settings.requests.getPayment(referenceNumber),
          options: resolveRequestOptions(undefined, settings.options),
          merchantPaymentReference: undefined,
        });
      },
`,
        ],
      ],
      // One handler for each path of the table.
      'test/msw/handlers.test.ts': [
        ['seed: undefined })).toHaveLength(1)', 'seed: undefined })).toHaveLength(2)'],
      ],
    },
    run: ['vitest run --project logic test/client/get.test.ts test/mock-server/api test/msw'],
  },
];
