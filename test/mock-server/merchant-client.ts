import { connect } from 'node:net';
import type { MockServer, MockServerOptions } from '../../src/mock-server/index.js';
import { startLimitedServer } from '../../src/mock-server/server.js';
import { KEPT } from '../../src/mock-server/state/cap.js';

export const order = { merchantPaymentReference: 'order-1', amount: 1000, currency: 'EUR' };

export function basic(apiKey: string, apiSecret: string): string {
  return `Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`;
}

/** A creation, for a service without a server. */
export const creation = (body: object = order, init: RequestInit = {}): Request =>
  new Request('http://mock.test/api/payments', {
    method: 'POST',
    headers: { authorization: basic('key', 'secret'), 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...init,
  });

interface Credentials {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
}

/** Creates a payment over HTTP with the global fetch. */
export function postPayment(
  { url, apiKey, apiSecret }: Credentials,
  body: unknown = order,
  init: RequestInit = {},
): Promise<Response> {
  return fetch(`${url}/api/payments`, {
    method: 'POST',
    headers: { authorization: basic(apiKey, apiSecret), 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  });
}

/** Creates a payment and returns its referenceNumber. */
export async function createPayment(server: MockServer, body: unknown = order): Promise<string> {
  const answer = await postPayment(server, body);
  const { referenceNumber } = (await answer.json()) as { referenceNumber: string };
  return referenceNumber;
}

/** A server with one payment. */
export async function startWithPayment(
  options: MockServerOptions,
  limit = KEPT,
): Promise<{ server: MockServer; referenceNumber: string }> {
  const server = await startLimitedServer(options, limit);
  return { server, referenceNumber: await createPayment(server) };
}

interface WireResult {
  /** What was received. */
  readonly text: string;
  /** `end` for an orderly close, or the error's code. */
  readonly closedBy: string | undefined;
}

/** Sends bytes over TCP and reads until the other side closes, in whichever way it does. */
export function exchange(url: string, text: string): Promise<WireResult> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let closedBy: string | undefined;
    const socket = connect(Number(port), hostname);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => {
      closedBy ??= 'end';
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      closedBy ??= error.code;
    });
    socket.on('close', () => resolve({ text: Buffer.concat(chunks).toString(), closedBy }));
    socket.write(text);
  });
}

/** The bytes of a creation, for {@link exchange}. */
export function rawCreation({ apiKey, apiSecret }: Credentials): string {
  const body = JSON.stringify(order);
  return [
    'POST /api/payments HTTP/1.1',
    'Host: localhost',
    `Authorization: ${basic(apiKey, apiSecret)}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}
