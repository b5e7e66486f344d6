import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Answer } from './answers.js';

/** A request as the server saw it, and all it said to it. */
export interface SeenRequest {
  /** Of the call, from its header x-call. */
  readonly call: string;
  /** What it was to be answered with. */
  readonly answer: Answer;
  /** Whether all of it was received: only then may the server have done what it asks. */
  complete: boolean;
  /** What was written for it. */
  readonly written: Buffer[];
  /** What was written on its connection for the requests before it. */
  readonly writtenBefore: readonly Buffer[];
}

type AnswerTo = (call: string, earlierRequests: number) => Answer;

export interface AnsweringServer {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

/** A server that answers as the scripts of its calls say, and records the requests. */
export async function startAnsweringServer(answerTo: AnswerTo): Promise<AnsweringServer> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    serve(socket, requests, answerTo);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

function serve(socket: Socket, requests: SeenRequest[], answerTo: AnswerTo): void {
  const onConnection: Buffer[] = [];
  let bytes = Buffer.alloc(0);
  let current: { readonly request: SeenRequest; answered: boolean } | undefined;

  const respond = (): void => {
    if (current === undefined || current.answered) return;
    const { request } = current;
    current.answered = true;
    const note = (piece: Buffer): void => {
      request.written.push(piece);
      onConnection.push(piece);
    };
    void write(socket, request.answer, note);
  };

  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const head = readHead(bytes);
      if (head === undefined) return;
      if (current === undefined) {
        const earlier = requests.filter(({ call }) => call === head.call).length;
        const request = {
          call: head.call,
          answer: answerTo(head.call, earlier),
          complete: false,
          written: [],
          writtenBefore: [...onConnection],
        };
        requests.push(request);
        current = { request, answered: false };
        if (request.answer.early) respond();
      }
      if (bytes.length < head.length) return;
      bytes = bytes.subarray(head.length);
      current.request.complete = true;
      respond();
      current = undefined;
    }
  });
}

function readHead(bytes: Buffer): { call: string; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const text = bytes.subarray(0, end).toString('latin1');
  const [, call = ''] = /\r\nx-call: (\S+)/i.exec(text) ?? [];
  const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
  return { call, length: end + 4 + Number(length) };
}

async function write(
  socket: Socket,
  { pieces, ending }: Answer,
  note: (piece: Buffer) => void,
): Promise<void> {
  for (const piece of pieces) {
    if (!socket.writable) return;
    note(piece);
    socket.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (ending === 'reset') socket.resetAndDestroy();
  else if (ending === 'half-close') socket.end();
  else if (ending === 'end') socket.end(() => socket.destroySoon());
}
