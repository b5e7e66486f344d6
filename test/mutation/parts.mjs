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
    mutate: [
      'src/callback/**/*.ts',
      'src/protocol/instant.ts',
      'src/protocol/schema.ts',
      'src/protocol/strict-schema.ts',
    ],
    tests: ['test/callback/**/*.test.ts', 'test/protocol/{instant,schema}.test.ts'],
    concurrency: 2,
  },
  client: {
    mutate: ['src/client/**/*.ts'],
    // The outbox uses the client's preparation of a creation.
    tests: ['test/client/**/*.test.ts', 'test/outbox/{engine,sending}.test.ts'],
    concurrency: 2,
  },
  receiver: {
    mutate: ['src/receiver/**/*.ts'],
    tests: ['test/receiver/**/*.test.ts', 'test/{node,fetch,fastify,lambda}/**/*.test.ts'],
    concurrency: 2,
  },
  outbox: {
    // Files that only databases use are mutated with those.
    mutate: ['src/outbox/*.ts', '!src/outbox/rows.ts', '!src/outbox/failures.ts'],
    // Without the model, which takes longer than all other tests.
    tests: ['test/outbox/!(model).test.ts', 'test/contract/memory.test.ts'],
    concurrency: 2,
  },
  store: {
    // Files that only databases use are mutated with those.
    mutate: ['src/inbox/*.ts', '!src/inbox/store-failure.ts', '!src/inbox/stored-event.ts'],
    // Without the warning, whose tests load the modules again.
    tests: ['test/inbox/!(memory-warning).test.ts', 'test/contract/memory.test.ts'],
    concurrency: 2,
  },
  // The rest of src/storage is mutated with the inbox of its database.
  storage: {
    mutate: ['src/storage/*.ts'],
    tests: [
      'test/storage/*.test.ts',
      'test/inbox/{memory,memory-warning,postgres/savepoints}.test.ts',
      'test/inbox/mysql/savepoints.services.test.ts',
      'test/receiver/settlement.test.ts',
    ],
    concurrency: 1,
    testTimeoutMs: 20_000,
  },
  // The tests of the databases share the servers.
  postgres: {
    mutate: [
      'src/inbox/postgres/**/*.ts',
      'src/inbox/store-failure.ts',
      'src/inbox/stored-event.ts',
      'src/storage/postgres/**/*.ts',
      // Only the outbox uses it.
      '!src/storage/postgres/runner.ts',
      'src/storage/providers/*.ts',
    ],
    tests: [
      'test/inbox/{postgres,sql}/**/*.test.ts',
      'test/contract/{pglite,postgres.services}.test.ts',
    ],
    concurrency: 1,
    testTimeoutMs: 20_000,
  },
  mysql: {
    mutate: ['src/inbox/mysql/**/*.ts', 'src/storage/mysql/**/*.ts'],
    tests: [
      'test/inbox/{mysql,sql}/**/*.test.ts',
      'test/storage/mysql/**/*.test.ts',
      'test/contract/mysql.services.test.ts',
    ],
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
  'outbox-postgres': {
    mutate: [
      'src/outbox/postgres/**/*.ts',
      'src/outbox/sql/**/*.ts',
      'src/outbox/rows.ts',
      'src/outbox/failures.ts',
      'src/storage/postgres/runner.ts',
    ],
    tests: [
      'test/outbox/{postgres/**/*,rows,sql-options}.test.ts',
      'test/contract/{pglite,postgres.services}.test.ts',
    ],
    concurrency: 1,
    testTimeoutMs: 20_000,
  },
  'outbox-mysql': {
    mutate: ['src/outbox/mysql/**/*.ts'],
    tests: ['test/outbox/{mysql/**/*,sql-options}.test.ts', 'test/contract/mysql.services.test.ts'],
    concurrency: 1,
    testTimeoutMs: 20_000,
  },
};
