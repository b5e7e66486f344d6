import { expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { openPglite } from '../pglite.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, nothing } from './change.js';

it('rejects with the database’s own error as the cause when it is closed', async () => {
  const closed = await openPglite();
  await closed.close();
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout');
  const before = timers().length;
  await expect(outcomeOf(postgresStore(closed), change('closed'), nothing)).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining('nothing was done'),
    cause: { message: 'PGlite is closed' },
  });
  // The runner's own may end meanwhile.
  expect(timers().length).toBeLessThanOrEqual(before);
});
