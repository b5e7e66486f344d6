// A merchant's endpoint on the runtime's own HTTP server: node:http, Bun.serve or Deno.serve. It
// prints its port and ends with its standard input.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { VerifiedCallback } from 'merchant-payments/callback';
import { callbackHandler as fetchHandler } from 'merchant-payments/fetch';
import { callbackHandler as nodeHandler } from 'merchant-payments/node';
import { SECRET } from '../cases/signed-callback.js';
import { OrderBook } from './order-book.js';

type Handle = (request: Request) => Response | Promise<Response>;

interface Servers {
  readonly Bun?: { serve(options: object): { port: number } };
  readonly Deno?: { serve(options: object, handle: Handle): { addr: { port: number } } };
}

const { Bun, Deno } = globalThis as Servers;
const book = new OrderBook();
const options = {
  signingSecret: SECRET,
  onPayment: (callback: VerifiedCallback, { current }: { current: boolean }) =>
    book.record(callback, current),
  onRejected: () => undefined,
  onError: () => undefined,
};
const hostname = '127.0.0.1';

const handleFetch = fetchHandler(options);
const serve: Handle = (request) =>
  request.method === 'GET' ? new Response(book.answer(request.url)) : handleFetch(request);

async function start(): Promise<number> {
  if (Bun !== undefined) return Bun.serve({ port: 0, hostname, fetch: serve }).port;
  if (Deno !== undefined) return Deno.serve({ port: 0, hostname, onListen() {} }, serve).addr.port;
  const handleNode = nodeHandler(options);
  const server = createServer((request, response) => {
    if (request.method === 'GET') response.end(book.answer(request.url ?? ''));
    else void handleNode(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, hostname, resolve));
  return (server.address() as AddressInfo).port;
}

console.log(JSON.stringify({ port: await start() }));
process.stdin.on('end', () => process.exit()).resume();
