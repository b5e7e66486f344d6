import http from 'node:http';
import { expect, test } from 'vitest';
import { startMockServer } from '../../../src/mock-server/index.js';

test.each([
  ['POST', { origin: 'http://evil.example' }, 403],
  ['POST', { 'content-type': 'text/plain' }, 415],
  ['DELETE', {}, 200],
])('a large body sent with %s %j is read and discarded', async (method, headers, status) => {
  await using server = await startMockServer();
  const before = process.memoryUsage().arrayBuffers;
  const size = 200 * 1_048_576;
  const agent = new http.Agent({ keepAlive: true });
  let most = 0;
  const answer = await new Promise<number | undefined>((resolve, reject) => {
    const request = http.request(
      `${server.url}/_mock/faults`,
      { method, agent, headers: { ...headers, 'content-length': size } },
      (response) => {
        response.resume();
        const chunk = Buffer.alloc(1_048_576);
        let sent = 0;
        const send = () => {
          most = Math.max(most, process.memoryUsage().arrayBuffers - before);
          sent += chunk.length;
          if (sent < size) request.write(chunk, send);
          else request.end(chunk, () => resolve(response.statusCode));
        };
        send();
      },
    );
    request.on('error', reject);
    request.flushHeaders();
  });
  agent.destroy();
  expect(answer).toBe(status);
  expect(most).toBeLessThan(size / 2);
});
