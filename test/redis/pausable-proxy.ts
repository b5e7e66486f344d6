import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Passes everything on to another server, until the test pauses it. */
export interface PausableProxy {
  readonly url: string;
  /** Keeps back what clients send. */
  holdCommands(): void;
  /** Keeps back what the server answers. */
  holdReplies(): void;
  /** Closes the connection on which a client sends something next, and with it goes what it sent. */
  loseNextCommand(): void;
  /** Passes on what was kept back, and everything after it. */
  resume(): void;
  close(): void;
}

export async function startPausableProxy(target: string): Promise<PausableProxy> {
  const { hostname, port } = new URL(target);
  const held = { commands: false, replies: false };
  let losing = false;
  const pairs: { client: Socket; upstream: Socket }[] = [];

  const apply = () => {
    for (const { client, upstream } of pairs) {
      if (held.commands) client.pause();
      else client.resume();
      if (held.replies) upstream.pause();
      else upstream.resume();
    }
  };
  const server = createServer((client) => {
    const upstream = connect(Number(port || 6379), hostname);
    pairs.push({ client, upstream });
    client.on('data', () => {
      if (!losing) return;
      losing = false;
      client.destroy();
      upstream.destroy();
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (bytes) => to.write(bytes));
      from.on('close', () => to.destroy());
      from.on('error', () => to.destroy());
    }
    apply();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const set = (change: Partial<typeof held>) => {
    Object.assign(held, change);
    apply();
  };
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    holdCommands: () => set({ commands: true }),
    holdReplies: () => set({ replies: true }),
    loseNextCommand() {
      losing = true;
    },
    resume: () => set({ commands: false, replies: false }),
    close() {
      server.close();
      for (const { client, upstream } of pairs) {
        client.destroy();
        upstream.destroy();
      }
    },
  };
}
