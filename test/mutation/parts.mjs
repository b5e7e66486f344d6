/**
 * What is mutated together, and the tests that judge it: the part's own and those of what stands
 * on it. All others only cost time.
 *
 * @type {Record<string, { mutate: string[]; tests: string[]; concurrency: number }>}
 */
export const PARTS = {
  errors: {
    mutate: ['src/errors.ts', 'src/error-base.ts'],
    tests: ['test/errors.test.ts', 'test/client/{failure,response,options}.test.ts'],
    concurrency: 2,
  },
  callback: {
    mutate: ['src/callback/**/*.ts', 'src/protocol/instant.ts'],
    tests: ['test/callback/**/*.test.ts', 'test/protocol/instant.test.ts'],
    concurrency: 2,
  },
  client: {
    mutate: ['src/client/**/*.ts'],
    tests: ['test/client/**/*.test.ts'],
    concurrency: 2,
  },
  receiver: {
    mutate: ['src/receiver/**/*.ts'],
    tests: ['test/receiver/**/*.test.ts', 'test/{node,fetch,fastify,lambda}/**/*.test.ts'],
    concurrency: 2,
  },
  // The tests of the inboxes share the servers.
  inbox: {
    mutate: ['src/inbox/*.ts', 'src/inbox/contract/**/*.ts'],
    tests: ['test/inbox/*.test.ts', 'test/inbox/contract/{contract,wrong-inboxes}.test.ts'],
    concurrency: 2,
  },
  postgres: {
    mutate: ['src/inbox/postgres/**/*.ts', 'src/storage/postgres/**/*.ts'],
    tests: ['test/inbox/postgres/**/*.test.ts', 'test/inbox/contract/postgres.services.test.ts'],
    concurrency: 1,
  },
  redis: {
    mutate: ['src/inbox/redis/**/*.ts'],
    tests: ['test/inbox/redis/**/*.test.ts', 'test/inbox/contract/redis.services.test.ts'],
    concurrency: 1,
  },
  sqlite: {
    mutate: ['src/inbox/sqlite/**/*.ts', 'src/storage/sqlite/**/*.ts'],
    tests: ['test/inbox/sqlite/**/*.test.ts'],
    concurrency: 1,
  },
};
