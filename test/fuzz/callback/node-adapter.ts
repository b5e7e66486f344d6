import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { callbackHandler } from '../../../src/node/callback-handler.js';
import { checkBatches, type FuzzOptions, type FuzzResult, Tally } from '../property-runs.js';
import { type Delivery, deliveries, type HeaderPair } from './deliveries.js';
import { type OracleVerdict, startOracle } from './oracle.js';
import { profiles, toOptions } from './profiles.js';

/** Deliveries as bytes on a socket: a 200 and a call of onPayment for exactly what Python accepts. */
export async function fuzzNodeAdapter(options: FuzzOptions): Promise<FuzzResult> {
  const oracle = startOracle(profiles);
  const endpoint = await startEndpoint();
  const tally = new Tally();
  try {
    const cases = await checkBatches({
      ...options,
      arbitrary: deliveries,
      batchSize: 32,
      async check(batch) {
        const sent = batch.map(toWire);
        const verdicts = await oracle.judge(
          sent.map(({ headers, body }, index) => ({
            profile: (batch[index] as Delivery).profile,
            headers: headers.map(([name, value]) => [name, trimmed(value)] as const),
            body,
          })),
        );
        endpoint.processed.clear();
        const statuses = await Promise.all(
          sent.map(({ bytes }, index) => post(endpoint.port, bytes(index))),
        );
        for (const [index, status] of statuses.entries()) {
          const verdict = verdicts[index] as OracleVerdict;
          const { headers, body } = sent[index] as Wire;
          const processed = endpoint.processed.get(String(index)) ?? 0;
          if (!isRefusedByHttp(status, headers)) expectStatus(status, verdict, body.length);
          assert.equal(processed, status === 200 ? 1 : 0, `onPayment, answered with ${status}`);
          tally.add(`status ${status}`);
        }
      },
    });
    return { cases, counts: tally.counts };
  } finally {
    await endpoint.close();
    await oracle.close();
  }
}

const MAX_BODY_BYTES = 65_536;

// The names and values that HTTP has (RFC 9110, sections 5.1 and 5.5), read as Latin-1.
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Whether node:http answers by itself, since the head is none of HTTP; Python is not asked for that. */
function isRefusedByHttp(status: number, headers: readonly HeaderPair[]): boolean {
  return status === 400 && !headers.every(([name, value]) => NAME.test(name) && VALUE.test(value));
}

function expectStatus(
  status: number,
  { codes, headerCodes }: OracleVerdict,
  bodyBytes: number,
): void {
  // What node:http itself does not take for HTTP never reaches the handler.
  if (status === 400 || status === 431) {
    assert(codes.length > 0, `node:http refuses what Python accepts: ${status}`);
    return;
  }
  assert.equal(
    status,
    headerCodes.length === 0 && bodyBytes > MAX_BODY_BYTES
      ? 413
      : codes.length === 0
        ? 200
        : codes.includes('INVALID_RECORD')
          ? 422
          : 401,
    `Python says ${codes}`,
  );
}

interface Endpoint {
  readonly port: number;
  /** How often onPayment was called, by the number of the request. */
  readonly processed: Map<string, number>;
  close(): Promise<void>;
}

async function startEndpoint(): Promise<Endpoint> {
  const processed = new Map<string, number>();
  const server = createServer((request, response) => {
    const [, profile = '', number = ''] = request.url?.split('/') ?? [];
    const handle = callbackHandler({
      ...toOptions(profiles[Number(profile)] ?? (profiles[0] as never), Number(profile)),
      maxBodyBytes: MAX_BODY_BYTES,
      store: {
        async process(_event, work) {
          await work({
            tx: undefined,
            signal: new AbortController().signal,
            order: 'order-1',
            current: true,
            secondPayment: false,
          });
          return { outcome: 'processed' };
        },
      },
      onPayment: () => void processed.set(number, (processed.get(number) ?? 0) + 1),
      onError: () => undefined,
      onRejected: () => undefined,
    });
    void handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    processed,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

interface Wire {
  /** As they are on the wire: one byte for each character. */
  readonly headers: readonly HeaderPair[];
  readonly body: Buffer;
  bytes(number: number): Buffer;
}

function toWire({ profile, headers, body, bodyKind }: Delivery): Wire {
  const bytes = Buffer.from(body as string);
  const onWire = headers.map(([name, value]) => [toLatin1(name), toLatin1(value)] as const);
  const chunked = bodyKind === 'ArrayBuffer' && bytes.length > 0;
  const framing = chunked ? 'transfer-encoding: chunked' : `content-length: ${bytes.length}`;
  const lines = onWire.map(([name, value]) => `${name}:${value}\r\n`).join('');
  return {
    headers: onWire,
    body: bytes,
    bytes: (number) =>
      Buffer.concat([
        Buffer.from(
          `POST /${profile}/${number} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${lines}${framing}\r\n\r\n`,
          'latin1',
        ),
        chunked ? toChunks(bytes) : bytes,
      ]),
  };
}

function toLatin1(text: string): string {
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[\r\n]/g, ' ');
}

// Optional white space around a value is none of it (RFC 9110, section 5.5).
function trimmed(value: string): string {
  return value.replace(/^[ \t]+|[ \t]+$/g, '');
}

function toChunks(bytes: Buffer): Buffer {
  const middle = bytes.length >> 1;
  return Buffer.concat(
    [bytes.subarray(0, middle), bytes.subarray(middle), Buffer.alloc(0)]
      .filter(({ length }, index) => length > 0 || index === 2)
      .flatMap((chunk) => [
        Buffer.from(`${chunk.length.toString(16)}\r\n`),
        chunk,
        Buffer.from('\r\n'),
      ]),
  );
}

/** The status of the answer. The connection closes with it. */
async function post(port: number, bytes: Buffer): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1' });
  let answer = '';
  socket.setEncoding('latin1').on('data', (text) => {
    answer += text;
  });
  // A server that refuses a body may close before the body is through.
  socket.on('error', () => undefined);
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}
