import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { makeHttpApiEvent } from '../lambda/events.js';

type Handler = (
  event: APIGatewayProxyEventV2,
) => Promise<{ statusCode: number; headers: Record<string, string>; body: string }>;

/** What a function URL does: an HTTP request becomes an event of payload version 2.0. */
export async function startFunctionUrl(
  handler: Handler,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const event = makeHttpApiEvent(request, Buffer.concat(chunks), true);
    const result = await handler(event);
    response.writeHead(result.statusCode, result.headers).end(result.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
