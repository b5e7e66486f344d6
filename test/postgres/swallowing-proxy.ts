import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Passes everything on to another server, until the test calls `swallow()`. */
export interface SwallowingProxy {
  readonly url: string;
  /** Swallows what is sent from now on, and with it the connections: they never work again. */
  swallow(): void;
  /** Swallows what the server sends on the connections of now, after their next message to it. */
  swallowNextAnswer(): void;
  /** New connections work again. */
  heal(): void;
  /** Loses the connection on which a client next sends this text, in lower case, and with it what it sent. */
  cutAt(text: string, lose: (client: Socket) => void): void;
  /** Whether that has happened. */
  isCut(): boolean;
  /** Ends the connections of now, from both sides. */
  cut(): void;
  /** Settles when the server has been sent a message whose answer was swallowed. */
  readonly answered: Promise<void>;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  /** What is swallowed: nothing, what the server sends, or all of it. */
  mode: 'pass' | 'answers' | 'all';
}

export async function startSwallowingProxy(target: string): Promise<SwallowingProxy> {
  const { hostname, port, protocol } = new URL(target);
  const pairs = new Set<Pair>();
  let swallowing = false;
  let cutting: { readonly at: string; readonly lose: (client: Socket) => void } | undefined;
  let answered = (): void => undefined;
  const whenAnswered = new Promise<void>((resolve) => {
    answered = resolve;
  });

  const server = createServer((client) => {
    const upstream = connect(Number(port || (protocol === 'mysql:' ? 3306 : 5432)), hostname);
    const live: Pair = { client, upstream, mode: swallowing ? 'all' : 'pass' };
    pairs.add(live);
    client.on('data', (bytes) => {
      if (cutting !== undefined && String(bytes).toLowerCase().includes(cutting.at)) {
        cutting.lose(client);
        cutting = undefined;
      } else if (live.mode !== 'all') upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (live.mode === 'pass') client.write(bytes);
      if (live.mode === 'answers') answered();
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      // A network that swallows passes on no end either.
      from.on('close', () => {
        if (live.mode === 'pass') to.destroy();
      });
      from.on('error', () => undefined);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const cut = () => {
    for (const { client, upstream } of pairs) {
      client.destroy();
      upstream.destroy();
    }
  };
  return {
    url: url.href,
    swallow() {
      swallowing = true;
      for (const pair of pairs) pair.mode = 'all';
    },
    swallowNextAnswer() {
      for (const pair of pairs) pair.mode = 'answers';
    },
    heal() {
      swallowing = false;
    },
    cutAt(at, lose) {
      cutting = { at, lose };
    },
    isCut: () => cutting === undefined,
    cut,
    answered: whenAnswered,
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
