import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answer = (method: string) => number;

export interface Warehouse extends AsyncDisposable {
  readonly url: string;
  /** What it was told of an order, oldest first, with what it answered: `PUT 200`. */
  toldOf(reference: string): readonly string[];
  /** What it answers to the order. Without it, 200. */
  answer(reference: string, answer: Answer): void;
  /** Settles when it has been told so of the order. */
  wasTold(reference: string, what: string): Promise<void>;
}

/** The warehouse that the examples with a queue tell what to ship. */
export async function startWarehouse(): Promise<Warehouse> {
  const told = new Map<string, string[]>();
  const answers = new Map<string, Answer>();
  const changes = new EventEmitter();
  const server = createServer((request, response) => {
    const reference = decodeURIComponent(request.url?.split('/').at(-1) ?? '');
    const { method = '' } = request;
    const status = answers.get(reference)?.(method) ?? 200;
    told.set(reference, [...(told.get(reference) ?? []), `${method} ${status}`]);
    response.writeHead(status).end();
    changes.emit('change');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const toldOf = (reference: string) => told.get(reference) ?? [];
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    toldOf,
    answer: (reference, answer) => void answers.set(reference, answer),
    async wasTold(reference, what) {
      while (!toldOf(reference).includes(what)) await once(changes, 'change');
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
