import http from 'node:http';
import type { ControlEvent, ControlState } from '../../../src/mock-server/control/control-types.js';
import type { MockServer } from '../../../src/mock-server/index.js';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // What the control interface sends, as a test reads it.
  readonly body: { [field: string]: unknown };
}

/** Calls the control interface as a tool does. */
export async function control(
  { url }: Pick<MockServer, 'url'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const answer = await fetch(`${url}/_mock${path}`, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  });
  return {
    status: answer.status,
    headers: answer.headers,
    body: (await answer.json()) as Answer['body'],
  };
}

/** Everything that the control interface shows. */
export async function readState(server: Pick<MockServer, 'url'>): Promise<ControlState> {
  return (await control(server, 'GET', '/state')).body as never;
}

/** Sends headers that fetch can’t set: Host, Origin, Sec-Fetch-Site. */
export function rawRequest(
  { url }: Pick<MockServer, 'url'>,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}${path}`, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

interface EventReader extends AsyncDisposable {
  /** Reads until an event of that type arrives. */
  next(type: ControlEvent['type']): Promise<ControlEvent>;
  /** Reads to the end; resolves when the server has ended the stream. */
  ended(): Promise<void>;
}

/** Listens to the events, as EventSource would. */
export async function listen({ url }: Pick<MockServer, 'url'>): Promise<EventReader> {
  const leave = new AbortController();
  const answer = await fetch(`${url}/_mock/events`, { signal: leave.signal });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  async function readBlock(): Promise<string | undefined> {
    while (!text.includes('\n\n')) {
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += decoder.decode(value, { stream: true });
    }
    const end = text.indexOf('\n\n');
    const block = text.slice(0, end);
    text = text.slice(end + 2);
    return block;
  }
  // The stream is open once its first line has arrived.
  await readBlock();
  return {
    async next(type) {
      for (let block = await readBlock(); block !== undefined; block = await readBlock()) {
        const [event, data] = block.split('\n');
        if (event === `event: ${type}`) return JSON.parse(data?.slice('data: '.length) ?? '');
      }
      throw new Error(`The stream ended before an event of type ${type}`);
    },
    async ended() {
      while ((await readBlock()) !== undefined);
    },
    async [Symbol.asyncDispose]() {
      leave.abort();
    },
  };
}
