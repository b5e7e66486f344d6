import { createHmac } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedCallback {
  readonly url: string;
  readonly method: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly rawBody: Buffer;
}

/** A status to answer with, or what to do with the response; `undefined` leaves it open. */
type Reply = number | ((response: http.ServerResponse) => void) | undefined;

export interface MerchantEndpoint extends AsyncDisposable {
  readonly url: string;
  readonly received: ReceivedCallback[];
  /** Settles when the endpoint has received `count` callbacks in all. */
  waitFor(count: number): Promise<void>;
}

/** A merchant's callback endpoint: a real HTTP server whose replies the test decides. */
export async function startEndpoint(
  reply: (count: number, callback: ReceivedCallback) => Reply = () => 200,
): Promise<MerchantEndpoint> {
  const received: ReceivedCallback[] = [];
  const arrivals = new Set<() => void>();
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const callback = {
      url: request.url ?? '',
      method: request.method ?? '',
      headers: request.headers,
      rawBody: Buffer.concat(chunks),
    };
    received.push(callback);
    for (const arrive of arrivals) arrive();
    const decided = reply(received.length, callback);
    if (typeof decided === 'number') response.writeHead(decided).end();
    else decided?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/callbacks/payments`,
    received,
    waitFor(count) {
      return new Promise((resolve) => {
        const check = () => {
          if (received.length < count) return;
          arrivals.delete(check);
          resolve();
        };
        arrivals.add(check);
        check();
      });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Whether a callback's signature is right, computed here and not by the package. */
export function isSigned({ headers, rawBody }: ReceivedCallback, secret: string): boolean {
  const expected = createHmac('sha256', secret)
    .update(`${String(headers['x-timestamp'])}.`)
    .update(rawBody)
    .digest('hex');
  return headers['x-signature'] === expected;
}

export function parseBody({ rawBody }: ReceivedCallback): Record<string, unknown> {
  return JSON.parse(rawBody.toString());
}

/** A port on this machine at which no server listens. */
export async function reserveClosedPort(): Promise<number> {
  const server = http.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
