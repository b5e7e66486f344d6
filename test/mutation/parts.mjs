const STORE_ON_POSTGRES = [
  'test/postgres/!(pglite|pglite.slow).test.ts',
  'test/postgres/*/**/*.test.ts',
  'test/store/{sql,providers}/**/*.test.ts',
  'test/store/rows.test.ts',
  'test/contract/postgres.services.test.ts',
];
const STORE_ON_MYSQL = ['test/mysql/**/*.test.ts', 'test/contract/mysql.services.test.ts'];

/**
 * The files that are mutated together, and the tests that judge them: the part's own, and those of the code
 * that is built on it. Other tests would only cost time.
 *
 * @type {Record<string, { mutate: string[]; tests: string[]; concurrency: number; testTimeoutMs?: number }>}
 */
export const PARTS = {
  errors: {
    mutate: ['src/errors.ts', 'src/error-base.ts'],
    tests: ['test/errors.test.ts', 'test/client/{failure,response,options}.test.ts'],
    concurrency: 2,
  },
  callback: {
    mutate: ['src/callback/**/*.ts', 'src/protocol/instant.ts', 'src/protocol/schema.ts'],
    tests: ['test/callback/**/*.test.ts', 'test/protocol/{instant,schema-messages.slow}.test.ts'],
    concurrency: 2,
  },
  client: {
    mutate: ['src/client/**/*.ts'],
    // A store uses the client's preparation of a creation.
    tests: ['test/client/**/*.test.ts', 'test/store/{payment-engine,sending}.test.ts'],
    concurrency: 2,
  },
  receiver: {
    mutate: ['src/receiver/**/*.ts'],
    tests: ['test/receiver/**/*.test.ts', 'test/{node,fetch,fastify,lambda}/**/*.test.ts'],
    concurrency: 2,
  },
  store: {
    // Without the warning, whose tests load the module again, where Stryker does not see them.
    mutate: [
      'src/store/*.ts',
      '!src/store/memory-warning.ts',
      '!src/store/loss.ts',
      'src/store/lease/**/*.ts',
    ],
    // Without the models, which take longer than all other tests.
    tests: [
      'test/store/!(model.slow|change-model.slow|memory-warning).test.ts',
      'test/store/lease/*.test.ts',
      'test/contract/memory.test.ts',
      'test/client/stack.test.ts',
    ],
    concurrency: 2,
  },
  // The tests of the databases share the servers.
  sql: {
    mutate: ['src/store/loss.ts', 'src/store/sql/**/*.ts', 'src/store/providers/**/*.ts'],
    tests: [...STORE_ON_POSTGRES, ...STORE_ON_MYSQL],
    concurrency: 1,
    testTimeoutMs: 20_000,
  },
  postgres: {
    mutate: ['src/postgres/**/*.ts'],
    tests: [
      ...STORE_ON_POSTGRES,
      'test/postgres/pglite{,.slow}.test.ts',
      'test/contract/{pglite.slow,pglite-drizzle.services}.test.ts',
    ],
    concurrency: 1,
    testTimeoutMs: 20_000,
  },
  mysql: {
    mutate: ['src/mysql/**/*.ts'],
    tests: STORE_ON_MYSQL,
    concurrency: 1,
    testTimeoutMs: 20_000,
  },
  redis: {
    mutate: ['src/redis/**/*.ts'],
    tests: ['test/redis/**/*.test.ts', 'test/contract/redis.services.test.ts'],
    concurrency: 1,
    testTimeoutMs: 20_000,
  },
  sqlite: {
    mutate: ['src/sqlite/**/*.ts'],
    tests: ['test/sqlite/**/*.test.ts', 'test/contract/sqlite.services.test.ts'],
    concurrency: 1,
    testTimeoutMs: 20_000,
  },
};
