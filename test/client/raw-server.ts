import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
// Loaded before any deadline runs: the client's first call imports it inside its own.
import 'undici';
import { inspect } from 'node:util';
import { expect, onTestFinished, vi } from 'vitest';
import type { PaymentClientOptions } from '../../src/client/options.js';
import { PaymentClient } from '../../src/client/payment-client.js';
import { InvalidOptionError, MerchantPaymentsError } from '../../src/errors.js';
import type { StandardSchemaV1 } from '../../src/protocol/standard-schema.js';
import { timers } from '../../src/protocol/timers.js';

export const apiKey = 'key-4f1c9a';
export const apiSecret = 'secret-b7d2e8';
export const authorization = `Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`;
export const order = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };
export const record = {
  referenceNumber: '7b0f4e0e-52d4-4b43-a7d4-2d51b6a8f1c3',
  merchantPaymentReference: 'order-1001',
  providerReference: 'provider-1',
  status: 'pending',
  createdAt: '2026-01-31T12:00:00+00:00',
  updatedAt: '2026-01-31T12:00:00+00:00',
};

/** Both ways to send. The client takes its own undici Agent unless it is given a fetch. */
export const transports: readonly { name: 'undici' | 'fetch'; options: TransportOptions }[] = [
  { name: 'undici', options: {} },
  { name: 'fetch', options: { fetch: globalThis.fetch } },
];
export type TransportOptions = Partial<PaymentClientOptions>;

/** One request, with its bytes as received. */
export interface RawRequest {
  readonly line: string;
  /** Names in lower case. */
  readonly headers: Record<string, string>;
  readonly body: string;
  /** Of the server's connections, from 1. */
  readonly connection: number;
  readonly socket: Socket;
}

export interface RawServer {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly RawRequest[];
  readonly connections: readonly Socket[];
  /** Settles when that many requests have come in whole. */
  received(count: number): Promise<void>;
}

interface RawServerOptions {
  /** Writes what it likes, or returns the text of an answer. `index` counts requests from 0. */
  readonly answer?: (request: RawRequest, index: number) => string | Buffer | undefined;
  readonly connected?: (socket: Socket) => void;
}

/** A server that answers with bytes, so that it can also send what no HTTP library would. */
export async function startRawServer({ answer, connected }: RawServerOptions): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const connections: Socket[] = [];
  let waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer((socket) => {
    connections.push(socket);
    const connection = connections.length;
    socket.on('error', () => {});
    connected?.(socket);
    let bytes = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      const parsed = parseRequest(bytes);
      if (parsed === undefined) return;
      bytes = bytes.subarray(parsed.length);
      const request: RawRequest = { ...parsed, connection, socket };
      requests.push(request);
      const reply = answer?.(request, requests.length - 1);
      if (reply !== undefined) socket.write(reply);
      const ready = waiting.filter(({ count }) => requests.length >= count);
      waiting = waiting.filter((one) => !ready.includes(one));
      for (const { resolve } of ready) resolve();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of connections) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    connections,
    received: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

function parseRequest(bytes: Buffer) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [line = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map((text) => {
      const colon = text.indexOf(':');
      return [text.slice(0, colon).toLowerCase(), text.slice(colon + 1).trim()];
    }),
  );
  const length = end + 4 + Number(headers['content-length'] ?? 0);
  if (bytes.length < length) return undefined;
  return { line, headers, body: bytes.subarray(end + 4, length).toString(), length };
}

/** The bytes of a whole answer. */
export function httpAnswer(
  status: number,
  body: unknown = '',
  headers: Record<string, string> = { 'content-type': 'application/json' },
): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const lines = Object.entries({ 'content-length': String(Buffer.byteLength(text)), ...headers });
  return `HTTP/1.1 ${status} Text\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`;
}

export const created = httpAnswer(201, record);

/** A client of that server, closed with the test. */
export function createClient(url: string, options: TransportOptions = {}): PaymentClient {
  const client = new PaymentClient({ baseUrl: url, apiKey, apiSecret, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** The package's error that the call ends with. */
export async function failureOf(call: Promise<unknown>): Promise<MerchantPaymentsError> {
  const error = await call.then(
    () => 'the call succeeded',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MerchantPaymentsError);
  return error as MerchantPaymentsError;
}

/** Settles when the client has read the headers of its next answer, by either transport. */
export function answerBegun(): Promise<void> {
  return new Promise((resolve) => {
    const begin = (): void => {
      diagnostics.unsubscribe('undici:request:headers', begin);
      setImmediate(resolve);
    };
    diagnostics.subscribe('undici:request:headers', begin);
  });
}

/** Settles when the server's side of its connections so far has closed, by an end or a reset. */
export async function connectionsClosed({ connections }: Pick<RawServer, 'connections'>) {
  const open = connections.filter(({ closed }) => !closed);
  // Not by events.once, which would reject for the error that comes with a reset.
  await Promise.all(open.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
}

/** A port of this machine that refuses connections. */
export async function refusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Lets a test decide when the call's deadline passes; recognises its timer by its length. */
export function holdDeadline(timeoutMs = 54_321): { timeoutMs: number; expire(): void } {
  const schedule = timers.setTimeout;
  let expire = (): void => {
    throw new Error('No call has set its deadline');
  };
  const spy = vi.spyOn(timers, 'setTimeout').mockImplementation(((
    callback: (...values: unknown[]) => void,
    delayMs?: number,
    ...values: unknown[]
  ) => {
    const timer = schedule(callback, delayMs, ...values);
    if (delayMs === timeoutMs) expire = () => callback(...values);
    return timer;
  }) as typeof setTimeout);
  onTestFinished(() => spy.mockRestore());
  return { timeoutMs, expire: () => expire() };
}

/** Lets a test move the clocks, as a stall of the process or a change of the time would. */
export function holdClocks() {
  const { now, systemNow } = timers;
  const ahead = { monotonicMs: 0, systemMs: 0 };
  vi.spyOn(timers, 'now').mockImplementation(() => now() + ahead.monotonicMs);
  vi.spyOn(timers, 'systemNow').mockImplementation(() => systemNow() + ahead.systemMs);
  return ahead;
}

/** Answers one request for each connection and resets it at the next, as if it had closed it long ago. */
export function startForgetfulServer(headers: Record<string, string> = {}) {
  const used = new Set<number>();
  return startRawServer({
    answer({ connection, socket }: RawRequest) {
      if (used.has(connection)) return void socket.resetAndDestroy();
      used.add(connection);
      return httpAnswer(201, record, { 'content-type': 'application/json', ...headers });
    },
  });
}

/** What a client refuses about its options. */
export function refusalOf(options: unknown): InvalidOptionError {
  try {
    new PaymentClient(options as PaymentClientOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(inspect(error, { showHidden: true })).not.toContain('hunter');
    return error as InvalidOptionError;
  }
  throw new Error('The options were accepted');
}

/** Retries at once: jitter between nothing and the bound comes out as nothing. */
export function withoutJitter(): void {
  const spy = vi.spyOn(Math, 'random').mockReturnValue(0);
  onTestFinished(() => spy.mockRestore());
}

export const noRetries = { maxRetries: 0 };

/** A schema by hand, as any library could make it. */
export const schemaOf = (validate: (value: unknown) => unknown): StandardSchemaV1 =>
  ({ '~standard': { version: 1, vendor: 'test', validate } }) as StandardSchemaV1;
