import { describe, expect, it } from 'vitest';
import { payments } from './order.js';
import { paymentsPlayer } from './payments-player.js';
import { play, toDepth } from './plays.js';
import { Divergence, replayAll } from './replay.js';
import { type ModelStore, mariadb, memory, postgres, sqlite } from './stores.js';
import { everyStep } from './traces.js';

const { DATABASE_URL = '', MYSQL_URL = '' } = process.env;

const stores: { name: string; open: () => Promise<ModelStore>; isMissing: boolean }[] = [
  { name: 'memory', open: async () => memory(), isMissing: false },
  { name: 'SQLite', open: async () => sqlite(), isMissing: false },
  { name: 'Postgres', open: () => postgres(DATABASE_URL, 4), isMissing: DATABASE_URL === '' },
  { name: 'MySQL', open: () => mariadb(MYSQL_URL, 4), isMissing: MYSQL_URL === '' },
];

// Longer ones at night: npm run test:traces.
describe('every short trace of the models, on a real store', () => {
  const there = stores.filter(({ isMissing }) => !isMissing);
  it.each(there)('$name holds and answers what the model does', async ({ open }) => {
    const store = await open();
    try {
      const [creations, callbacks] = await play(store, toDepth(3), toDepth(2));
      expect(creations).toMatchObject({ model: 'payments', traces: 918 });
      expect(callbacks).toMatchObject({ model: 'changes', traces: 194 });
    } finally {
      await store.close();
    }
  });
});

describe('the traces', () => {
  it('reach every state of an order', () => {
    const states = everyStep(payments).steps.map(([{ row }]) => row.state);
    expect(new Set(states).size).toBe(8);
  });

  it('end at the first divergence, whose error names the steps to it', async () => {
    const store = memory();
    const lane = await store.open(0);
    const forgetful = { ...lane, look: async () => lane.show(payments.start.row) };
    const replayed = replayAll({ ...store, open: async () => forgetful }, paymentsPlayer, [
      [{ name: 'record', body: 'A' }],
    ]);
    await expect(replayed).rejects.toThrow(Divergence);
    await expect(replayed).rejects.toThrow('{"name":"record","body":"A"}');
  });
});
