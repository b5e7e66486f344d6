import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { LOOK_UP_PATH } from './shop-config.js';

/** What goes wrong in front of the service, where it has created the payment or is still to do so. */
export interface FrontTrouble {
  readonly type: 'answers 500' | 'answers late' | 'arrives late';
  readonly delayMs: number;
}

/** What stands in front of the service. */
export interface ServiceFront {
  readonly url: string;
  /** Until nothing is on its way to the service. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

interface FrontOptions {
  readonly serviceUrl: string;
  pickTrouble(): FrontTrouble | undefined;
  /** What is answered to who looks a payment up. */
  lookUp(reference: string): unknown;
}

// The service never answers some, and the client of one that arrives late is gone.
const PATIENCE_MS = 5_000;

/** Hands requests on to the service; a few of them late, and the answers to a few of them not. */
export async function startFront(options: FrontOptions): Promise<ServiceFront> {
  const underWay = new Set<Promise<void>>();
  const server = createServer((incoming, outgoing) => {
    // What breaks on the one side breaks on the other.
    const passing = pass(incoming, outgoing, options).catch(() => void outgoing.destroy());
    underWay.add(passing);
    passing.finally(() => underWay.delete(passing));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async idle() {
      await Promise.all(underWay);
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { serviceUrl, pickTrouble, lookUp }: FrontOptions,
): Promise<void> {
  const { method, headers, url = '/' } = incoming;
  if (url.startsWith(LOOK_UP_PATH)) {
    outgoing.end(JSON.stringify(lookUp(url.slice(LOOK_UP_PATH.length))));
    return;
  }
  const { type, delayMs = 0 } = pickTrouble() ?? {};
  const body = await buffer(incoming);
  if (type === 'arrives late') await pause(delayMs);
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const sent = request(serviceUrl + url, { method, headers, agent: false, signal });
  outgoing.once('close', () => sent.destroy());
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve).on('error', reject).end(body);
  });
  if (type === 'answers late') await pause(delayMs);
  if (type === 'answers 500') {
    answer.resume();
    outgoing.writeHead(500).end();
    return;
  }
  outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
  await pipeline(answer, outgoing);
}
