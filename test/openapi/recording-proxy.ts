import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WireAnswer, WireMessage } from './conformance.js';

export interface Exchange {
  readonly request: WireMessage & { readonly method: string; readonly path: string };
  /** Absent when the connection broke before an answer was there in full. */
  readonly answer?: WireAnswer;
}

export interface RecordingProxy extends AsyncDisposable {
  readonly url: string;
  readonly exchanges: readonly Exchange[];
}

/** Stands before a server, and keeps what goes to and fro as it was on the wire. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const exchanges: Exchange[] = [];
  const proxy = http.createServer(async (incoming, outgoing) => {
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: await readText(incoming) };
    const answer = await forward(target, request).catch(() => undefined);
    exchanges.push(answer === undefined ? { request } : { request, answer });
    if (answer === undefined) outgoing.destroy();
    else outgoing.writeHead(answer.status, answer.headers).end(answer.body);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    exchanges,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

function forward(target: string, { method, path, headers, body }: Exchange['request']) {
  return new Promise<WireAnswer>((resolve, reject) => {
    const request = http.request(new URL(path, target), { method, headers, agent: false });
    request.on('error', reject);
    request.on('response', (response) => {
      readText(response).then(
        (text) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        reject,
      );
    });
    request.end(body);
  });
}

async function readText(message: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
