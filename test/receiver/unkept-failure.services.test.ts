import { describe, expect, it, onTestFinished } from 'vitest';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import { recordLines } from '../protocol/recorded-lines.js';
import { drivers } from '../sqlite/open-database.js';
import { createScene, post } from './scene.js';

describe.each(drivers)('a receiver with a store in SQLite, on $name', ({ open }) => {
  it('reports a failure that it can not store, after that of onPayment', async () => {
    const database = open(':memory:');
    onTestFinished(() => database.close());
    const store = sqliteStore(database);
    await store.setup();
    database.exec(`CREATE TRIGGER full BEFORE INSERT ON payment_store_failed_changes
        BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`);
    const { lines, logger } = recordLines();
    const reason = new Error('out of stock');
    const onPayment = () => Promise.reject(reason);
    const scene = createScene({ store, parkAfter: 1, logger, onPayment });
    expect(await scene.receive(post())).toMatchObject({ status: 500, outcome: 'failed' });
    const cause = { message: expect.stringContaining('the disk is full') };
    const callback = { key: expect.any(String) };
    expect(scene.reports).toMatchObject([
      { error: reason, callback },
      { error: { code: 'STORE_FAILED', cause }, callback },
    ]);
    expect(lines).toMatchObject([{ level: 'error', fields: { code: 'STORE_FAILED' } }]);
  });
});
