import { connect, createServer } from 'node:net';

// For postgres.mjs, in a separate process: passes bytes on, those of clients a millisecond later.
const ROUND_TRIP_MS = 1;
const { hostname, port } = new URL(process.argv[2]);

const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({ host: hostname, port: Number(port || 5432), noDelay: true });
  client.on('data', (bytes) => setTimeout(() => upstream.write(bytes), ROUND_TRIP_MS));
  upstream.on('data', (bytes) => client.write(bytes));
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ]) {
    from.on('close', () => to.destroy());
    from.on('error', () => to.destroy());
  }
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.once('disconnect', () => process.exit());
