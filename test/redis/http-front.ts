import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';

/** A Redis server that is reached over HTTP, as Upstash's clients do. */
export interface HttpFront {
  readonly url: string;
  readonly token: string;
  close(): void;
}

/**
 * Answers as Upstash's REST interface is documented to: a command, or at /pipeline several, as JSON; answers as
 * JSON, their text in base64 where the client asks for it, failures as `error`.
 */
export async function startHttpFront(redisUrl: string): Promise<HttpFront> {
  const token = 'front-token';
  const redis = new Redis(redisUrl);
  redis.on('error', () => {});
  const run = ([name = '', ...args]: string[], encode: (answer: unknown) => unknown) =>
    redis.call(name, args).then(
      (result) => ({ result: encode(result) }),
      (error: Error) => ({ error: error.message }),
    );

  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.headers.authorization !== `Bearer ${token}`) {
      return answer(401, { error: 'Unauthorized' });
    }
    const encode = request.headers['upstash-encoding'] === 'base64' ? toBase64 : same;
    const body = await readJson(request);
    if (request.url === '/pipeline') {
      return answer(
        200,
        await Promise.all(body.map((command) => run(command as string[], encode))),
      );
    }
    const answered = await run(body as string[], encode);
    return answer('error' in answered ? 400 : 200, answered);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    close() {
      server.closeAllConnections();
      server.close();
      redis.disconnect();
    },
  };
}

async function readJson(request: IncomingMessage): Promise<unknown[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

const same = (answer: unknown) => answer;

function toBase64(answer: unknown): unknown {
  return typeof answer === 'string' ? Buffer.from(answer).toString('base64') : answer;
}
