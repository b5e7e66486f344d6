import { once } from 'node:events';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { PATH } from './scene.js';

export interface RawClient {
  /** Settles when the bytes have left. */
  send(bytes: string | Uint8Array): Promise<void>;
  /** Sends the piece over and over until the connection breaks. */
  sendForEver(piece: Uint8Array): void;
  /** The next answer: status line and headers, names in lower case. The body must be empty. */
  readAnswer(): Promise<RawAnswer>;
  /** Resolves once the connection is closed, with the bytes after the answers already read. */
  readonly closed: Promise<string>;
  /** Ends the connection without a farewell. */
  leave(): void;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** A client that sends bytes, so that it can also send what no HTTP library would. */
export async function openRawClient({ port }: { port: number }): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  onTestFinished(() => void socket.destroy());
  let received = '';
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const one of waiting) one();
  };
  socket.setEncoding('latin1').on('data', (text) => {
    received += text;
    wake();
  });
  // A server that refuses an upload may close before the upload is through.
  socket.on('error', () => undefined);
  socket.on('close', wake);
  // Not once() of node:events: it rejects for an error.
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(received)));
  await once(socket, 'connect');

  return {
    closed,
    send: (bytes) =>
      new Promise((resolve, reject) => {
        socket.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    sendForEver(piece) {
      const pump = (): void => {
        while (socket.writable) if (!socket.write(piece)) return;
      };
      socket.on('drain', pump);
      pump();
    },
    readAnswer: () =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const answer = parseAnswer(received);
          if (answer === undefined && !socket.closed) return;
          waiting.delete(look);
          if (answer === undefined) reject(new Error(`Closed after: ${received}`));
          else resolve(answer);
          received = received.slice(answer?.length);
        };
        waiting.add(look);
        look();
      }),
    leave: () => void socket.destroy(),
  };
}

function parseAnswer(text: string): (RawAnswer & { length: number }) | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const body = headers['transfer-encoding'] === 'chunked' ? '0\r\n\r\n' : '';
  if (!text.startsWith(body, end + 4)) return undefined;
  return { status: Number(statusLine.split(' ')[1]), headers, length: end + 4 + body.length };
}

/** The head of a request, for a body of that many bytes, in chunks, or for none. */
export function writeHead(
  headers: Readonly<Record<string, string>>,
  length: number | 'chunked' | 'none',
  method = 'POST',
): string {
  const framing = length === 'chunked' ? 'transfer-encoding: chunked' : `content-length: ${length}`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}${length === 'none' ? '' : `${framing}\r\n`}\r\n`;
}
