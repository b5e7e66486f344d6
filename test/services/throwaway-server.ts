import { type AddressInfo, createServer } from 'node:net';

/** A server of the tests' own, on a free port, with its data in a temporary folder. */
export interface ThrowawayServer {
  readonly url: string;
  /** Ends it as a crash does. What it has confirmed is there again after {@link restart}. */
  kill(): Promise<void>;
  /** Starts it on the same port and data, and ends it properly first if it runs. */
  restart(): Promise<void>;
  /** Ends it for good, with its data. Happens by itself when the process ends. */
  stop(): Promise<void>;
}

export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const cleanUps = new Set<() => void>();
let listening = false;

/** Has this called when the process ends, Ctrl+C included. Returns how to take that back. */
export function cleanUpAtExit(cleanUp: () => void): () => void {
  cleanUps.add(cleanUp);
  listen();
  return () => void cleanUps.delete(cleanUp);
}

function listen(): void {
  if (listening) return;
  listening = true;
  process.once('exit', cleanUpAll);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      cleanUpAll();
      // Now without a listener of ours, so that it does what it does by default.
      process.kill(process.pid, signal);
    });
  }
}

function cleanUpAll(): void {
  for (const cleanUp of cleanUps) cleanUp();
  cleanUps.clear();
}
