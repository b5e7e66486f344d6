import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { CLAIM } from '../../../src/redis/scripts.js';
import { apiSecret } from '../planted.js';

/** A real client of a server with scripted answers. */
export async function connectRedis(
  answer: (socket: Socket, command: string) => void,
): Promise<Redis> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      // Several may come at once, and each waits for a separate answer.
      for (const command of data.toString().split(/(?<=\r\n)(?=\*\d+\r\n\$)/)) {
        answer(socket, command);
      }
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const client = new Redis({
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    password: apiSecret,
    lazyConnect: true,
    enableReadyCheck: false,
    disableClientInfo: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  onTestFinished(() => {
    client.disconnect();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return client;
}

/** `OK` to what connecting takes, and `reply` to a script. */
const replying =
  (reply: (command: string) => string) =>
  (socket: Socket, command: string): void => {
    if (!/eval/i.test(command)) socket.write('+OK\r\n');
    else socket.write(reply(command));
  };

export const SILENT = 'that does not answer';

export const redisServers: Record<string, (socket: Socket, command: string) => void> = {
  'that answers with an error': replying(() => '-ERR out of memory\r\n'),
  'that repeats what it was sent': (socket, command) => {
    const words = command.split('\r\n').filter((word) => !/^[*$]/.test(word));
    const args = words.slice(1).map((word) => `'${word}'`);
    socket.write(
      `-ERR unknown command '${words[0]}', with args beginning with: ${args.join(' ')}\r\n`,
    );
  },
  [SILENT]: (socket, command) => {
    if (!/eval/i.test(command)) socket.write('+OK\r\n');
  },
  'that gave the claim to another': replying((command) =>
    command.includes(CLAIM) ? '+claimed:10\r\n' : ':0\r\n',
  ),
  'that goes away': (socket) => socket.destroy(),
};

/** A database whose driver adds to its errors what was sent, as they do. */
export const failingDatabase = {
  exec(sql: string): never {
    throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR', sql });
  },
  prepare: () => ({ run: () => ({ changes: 0 }), get: () => undefined, all: () => [] }),
};
