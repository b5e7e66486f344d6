// The usual changes, each as small as it can be made and still pass: recipes in CONTRIBUTING.md.

const listSubpath = (name, after) => ({
  'scripts/subpaths.mjs': [[`  '${after}',\n`, `  '${after}',\n  '${name}',\n`]],
  'llms.txt': [
    [
      `- [merchant-payments/${after}]`,
      `- [merchant-payments/${name}](docs/imports-and-versions.md): made to be counted\n- [merchant-payments/${after}]`,
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
    name: 'a store for another SQL engine',
    atMost: 3,
    own: 'src/example/',
    write: {
      'src/example/index.ts': `/**
 * A store made to be counted.
 *
 * @module merchant-payments/example
 */
export { exampleStore } from './example-store.js';
`,
      'src/example/dialect.ts': `import { byKey, type Dialect } from '../store/sql/dialect.js';

const table = (name: string): string => \`"example_\${name}"\`;

export const dialect: Dialect = {
  tables: {
    payments: table('payments'),
    changes: table('changes'),
    failures: table('failures'),
    seconds: table('seconds'),
  },
  nameType: 'text COLLATE "C"',
  textType: 'text',
  tableOptions: '',
  index: (of, name, columns) => ({
    statement: \`CREATE INDEX IF NOT EXISTS "example_\${of}_\${name}" ON \${table(of)} (\${columns})\`,
  }),
  now: () => "(date_part('epoch', clock_timestamp()) * 1000)::bigint",
  list: (columns) => \`json_build_array(\${columns})::text\`,
  asText: (number) => \`\${number}::text\`,
  forUpdate: ' FOR UPDATE',
  skipLocked: ' FOR UPDATE SKIP LOCKED',
  ifNew: ' ON CONFLICT DO NOTHING',
  orLock: (column) => \` ON CONFLICT (\${column}) DO UPDATE SET \${column} = excluded.\${column}\`,
  ...byKey,
  limitEnds: '',
  literal: (text) => \`'\${text.replaceAll("'", "''")}'\`,
  durably: (text) => text,
};
`,
      'src/example/example-store.ts': `import { invalidOption, resolveOptions } from '../protocol/options.js';
import type { ManagedStore } from '../store/callback-store.js';
import { schemaOf } from '../store/sql/schema.js';
import { ServerFailures } from '../store/sql/server-failures.js';
import { type ServerStoreOptions, serverStoreRules } from '../store/sql/server-options.js';
import { serverStore } from '../store/sql/server-store.js';
import type { Connections } from '../store/sql/transactions.js';
import { dialect } from './dialect.js';

interface Queryable {
  query(statement: string): Promise<{ rows: unknown[] }>;
}

/** A transaction of the example's driver, which is PGlite. */
export interface Transaction extends Queryable {
  rollback(): Promise<void>;
  readonly closed: boolean;
}

interface Database extends Queryable {
  transaction<Result>(body: (tx: Transaction) => Promise<Result>): Promise<Result>;
}

const failures = new ServerFailures({
  name: 'Example',
  poolRemedy: '',
  deadlineRemedy: '',
  endedBy: 'COMMIT',
  schema: 'setup()',
  statementLimits: '',
  codeOf: (error) => (error as { code?: string }).code,
  endsConnection: () => false,
  databaseErrorOf: (error) => error,
  withoutStatement: () => undefined,
  codes: {
    missing: ['42P01'],
    lockTimeout: [],
    deadlock: [],
    cancelled: [],
    undone: [],
    spoils: [],
    idleTooLong: [],
    aborted: ['25P02'],
    ended: [],
  },
});

const ask = async (on: Queryable, statement: string): Promise<readonly string[]> =>
  (await on.query(statement)).rows.map((row) => String(Object.values(row as object)[0]));

function connect(database: Database): Connections<Transaction> {
  return {
    isSingle: true,
    run: (body) =>
      database.transaction(async (tx) => {
        const { signal } = new AbortController();
        const ending = await body({
          tx,
          signal,
          async begin(_limits, statements) {
            const texts: string[] = [];
            for (const statement of statements) texts.push(...(await ask(tx, statement)));
            await ask(tx, 'SAVEPOINT work');
            return texts;
          },
          ask: (statement) => ask(tx, statement),
          runWork: (work) => work(tx),
        });
        if (ending.end === 'rollback') await tx.rollback();
        else {
          const undo = ending.undo ? ['ROLLBACK TO SAVEPOINT work'] : [];
          for (const statement of [...undo, ...ending.statements]) await ask(tx, statement);
        }
        return ending.result;
      }),
    read: (statement) => ask(database, statement),
    change: async () => undefined,
    runIn(tx, body) {
      const isOpen = typeof tx?.rollback === 'function' && !tx.closed;
      if (!isOpen) throw invalidOption('tx', 'an open transaction', tx);
      return body((statement) => ask(tx, statement));
    },
  };
}

/** A store made to be counted. */
export function exampleStore(
  database: Database,
  options: ServerStoreOptions = {},
): ManagedStore<Transaction> {
  const server = {
    connections: connect(database),
    dialect,
    failures,
    readsCommitted: true,
    async setup() {
      for (const { create } of schemaOf(dialect)) await ask(database, create);
    },
    cancel: async () => undefined,
  };
  return serverStore(server, resolveOptions(options, serverStoreRules));
}
`,
      'test/contract/example.test.ts': `import { PGlite } from '@electric-sql/pglite';
import { beforeAll } from 'vitest';
import { exampleStore, type Transaction } from '../../src/example/example-store.js';
import { describeStore } from './store.js';

const database = new PGlite();
beforeAll(() => exampleStore(database as never).setup());

describeStore<Transaction>('exampleStore', () => ({
  create: (options) => exampleStore(database as never, { ...options, keepBodies: true }),
  concurrent: false,
  database: () => database,
  transaction: (body) => database.transaction((tx) => body(tx as never)),
  async loseLease() {
    await database.query("UPDATE example_payments SET lease_until_ms = 0 WHERE state IN ('sending', 'unresolved')");
  },
}));
`,
    },
    edit: {
      ...listSubpath('example', 'lambda'),
      '.dependency-cruiser.cjs': [
        [
          "...['postgres', 'mysql', 'sqlite', 'redis']",
          "...['postgres', 'mysql', 'sqlite', 'example', 'redis']",
        ],
      ],
    },
    run: [
      'node scripts/subpaths.mjs --write',
      'depcruise src --config .dependency-cruiser.cjs',
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
        ['  hang: {', "  conflict: { ...refuses, text: 'answers 409' },\n  hang: {"],
      ],
      'src/mock-server/api/request-faults.ts': [
        [
          "    case 'unauthorized':",
          `    case 'conflict':
      return errorAnswer(requestId, { status: 409, code: 'CONFLICT', message: 'It exists.' });
    case 'unauthorized':`,
        ],
      ],
      'docs/work-with-the-mock.md': [
        ['| `hang` |', '| `conflict` | answers 409 | no |\n| `hang` |'],
      ],
    },
    run: ['vitest run --project logic test/mock-server/faults test/docs/guides.test.ts'],
  },
  {
    name: 'a new error code',
    atMost: 2,
    edit: {
      'src/error-codes.ts': [
        ["    'CHANGE_PARKED',\n", "    'EMPTY_KEY',\n    'CHANGE_PARKED',\n"],
      ],
      'src/store/change.ts': [
        [
          'import { fieldOf, ownFields }',
          "import { StoreError } from '../errors.js';\nimport { fieldOf, ownFields }",
        ],
        [
          '  const payment = ownFields(given);\n',
          "  if (key === '') throw new StoreError('EMPTY_KEY', 'key must not be empty');\n  const payment = ownFields(given);\n",
        ],
      ],
      'docs/errors.md': [
        [
          '| `CHANGE_PARKED`',
          '| `EMPTY_KEY` | `StoreError` | made to be counted | nothing |\n| `CHANGE_PARKED`',
        ],
      ],
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
          '/**\n * A call of any operation.',
          `export function prepareGet(
  referenceNumber: string,
  options: ResolvedRequestOptions,
  client: ResolvedClientOptions,
): Call {
  const { method, path: template, safe } = operations['payments.get'];
  const path = template.replace(':id', encodeURIComponent(referenceNumber));
  const draft = draftOf(client, { method, safe, path, body: undefined });
  return { operation: 'payments.get', client, options, draft, merchantPaymentReference: undefined };
}

/**
 * A call of any operation.`,
        ],
      ],
      'src/client/payment-client.ts': [
        [
          'export interface Payments {\n',
          'export interface Payments {\n  /** Reads a payment. */\n  get(referenceNumber: string): Promise<CreatePaymentResult>;\n',
        ],
        ['  prepareCreation,\n', '  prepareCreation,\n  prepareGet,\n'],
        [
          '    this.payments = {\n',
          `    this.payments = {
      get: async (referenceNumber: string) => {
        const { answer, response } = await this.#send(
          this.#prepare(undefined, (checked, client) => prepareGet(referenceNumber, checked, client)),
        );
        return { payment: readPayment(answer.body), response };
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
