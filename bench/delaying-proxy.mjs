import { connect, createServer } from 'node:net';

// For delay.mjs, in a separate process: passes bytes on, those of clients later by the milliseconds given.
const { hostname, port } = new URL(process.argv[2]);
const roundTripMs = Number(process.argv[3]);

const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({ host: hostname, port: Number(port), noDelay: true });
  client.on('data', (bytes) => setTimeout(() => upstream.write(bytes), roundTripMs));
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
