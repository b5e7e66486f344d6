// The shop's process of crashes.mjs.
import { outboxes } from './outboxes.mjs';

const [name, databaseUrl, serviceUrl] = process.argv.slice(2);
const outbox = await outboxes[name].open({ databaseUrl, serviceUrl });

process.on('disconnect', () => process.exit());
process.on('message', async ({ call, argument }) => {
  const answer = await outbox[call]?.(argument);
  process.send({ call, answer: call === 'look' ? answer : undefined });
});
process.send({ call: 'open' });
