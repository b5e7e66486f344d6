import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Hands connections on. */
export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Hands every connection to the port that is picked for it. When either side breaks, both do: a
 * process that dies is for the service what it would be without a balancer.
 */
export async function startBalancer(pickPort: () => number | undefined): Promise<Balancer> {
  const open = new Set<Socket>();
  const join = (from: Socket, to: Socket): void => {
    open.add(from);
    from.pipe(to);
    // Closed after it.
    from.on('error', () => {});
    from.on('close', () => {
      open.delete(from);
      // After an orderly end the pipe hands on what has arrived, and ends the other side.
      if (!from.readableEnded) to.destroy();
    });
  };
  const server = createServer((client) => {
    const port = pickPort();
    if (port === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect(port, '127.0.0.1');
    join(client, upstream);
    join(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
