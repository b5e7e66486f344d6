import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { makeProvider } from '../../../src/store/providers/provider.js';

it('a provider does not show its database, which may show a password', () => {
  const database = { options: { password: 'planted' } };
  const unused = () => {
    throw new Error('unused');
  };
  const wanted = {
    ...{ orm: 'ORM', by: 'fromOrm', option: 'db', expected: 'an ORM', methods: [] },
    isTransaction: () => false,
  };
  const provider = makeProvider<object>(database, wanted, {
    transaction: unused,
    query: unused,
    forWork: unused,
  });
  expect(provider.database).toBe(database);
  expect(inspect(provider, { depth: null, showHidden: true })).not.toContain('planted');
  expect(JSON.stringify(provider)).not.toContain('planted');
});
