// Replays the traces of the model on every store: `node --import tsx test/model/main.ts`. `--depth 4 --store sqlite` goes less deep,
// on one store.
import { parseArgs } from 'node:util';
import { findMysql, findPostgres } from '../services/find-servers.js';
import { every, play, toDepth } from './plays.js';
import { mariadb, memory, postgres, sqlite } from './stores.js';

const { values } = parseArgs({
  options: { depth: { type: 'string', default: '5' }, store: { type: 'string', default: '' } },
});
const LANES = 6;

const [server, other] = [await findPostgres(), await findMysql()];
const stores = {
  memory: async () => memory(),
  sqlite: async () => sqlite(),
  postgres: server && (() => postgres(server.url, LANES)),
  mysql: other && (() => mariadb(other.url, LANES)),
};
const plans = {
  [`to ${values.depth} steps`]: toDepth(Number(values.depth)),
  'every step at every place': every,
};
const format = (count: number) => count.toLocaleString('en');

for (const [name, open] of Object.entries(stores)) {
  if (!name.startsWith(values.store)) continue;
  for (const [what, plan] of Object.entries(plans)) {
    const startedAtMs = performance.now();
    const store = await open?.();
    try {
      if (store === undefined) throw new Error('no server was found');
      const { traces, steps } = await play(store, plan);
      const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(0);
      const counts = `${format(traces)} traces, ${format(steps)} steps compared`;
      console.log(`${name}: ${what}: ${counts}, 0 divergences (${seconds} s)`);
    } catch (error) {
      console.error(name, what, error);
      process.exitCode = 1;
    } finally {
      await store?.close();
    }
  }
}
await Promise.all([server?.stop?.(), other?.stop?.()]);
