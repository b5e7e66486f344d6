import { describe, expect, it } from 'vitest';
import { changesPlayer } from './changes-player.js';
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

// Longer ones at night: main.ts.
describe('every short trace of the model, on a real store', () => {
  const there = stores.filter(({ isMissing }) => !isMissing);
  it.each(there)('$name holds and answers what the model does', async ({ open }) => {
    const store = await open();
    try {
      expect(await play(store, toDepth(2))).toMatchObject({ traces: 194 });
    } finally {
      await store.close();
    }
  });
});

describe('the traces', () => {
  const player = changesPlayer(false, false);

  it('reach every state of an order', () => {
    const places = [false, true].flatMap((isSending) =>
      everyStep(changesPlayer(false, isSending).model).steps.map(([{ row }]) => row.state),
    );
    expect(new Set(places).size).toBe(5);
  });

  it('end at the first divergence, whose error names the steps to it', async () => {
    const store = memory();
    const lane = await store.open(0);
    const forgetful = { ...lane, look: async () => lane.show(player.model.start.row) };
    const step = { name: 'deliver', change: 1, work: 'completes', isReplay: false } as const;
    const replayed = replayAll({ ...store, open: async () => forgetful }, player, [[step]]);
    await expect(replayed).rejects.toThrow(Divergence);
    await expect(replayed).rejects.toThrow('{"name":"deliver","change":1');
  });
});
