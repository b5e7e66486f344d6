import type { Writable } from 'node:stream';
import type { PlainAnswer } from '../api/http-messages.js';
import { GUARD_HEADERS } from './control-call.js';
import { type ShownService, viewEvent } from './control-view.js';

const HEARTBEAT_MS = 15_000;
/** What may be queued for a slow reader. Beyond it the stream ends, and the reader can reconnect. */
const MAX_QUEUED_BYTES = 8_388_608;
export class EventStreams {
  readonly #service: ShownService;
  readonly #open = new Set<() => void>();

  constructor(service: ShownService) {
    this.#service = service;
  }

  open(): PlainAnswer {
    const headers = { ...GUARD_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' };
    return { status: 200, headers, body: '', follow: (reader) => this.#follow(reader) };
  }

  #follow(reader: Writable): void {
    const send = (text: string) => {
      reader.write(text);
      if (reader.writableLength > MAX_QUEUED_BYTES) end();
    };
    const unsubscribe = this.#service.feed.subscribe((event) => {
      const view = viewEvent(event, this.#service);
      send(`event: ${view.type}\ndata: ${JSON.stringify(view)}\n\n`);
    });
    const heartbeat = setInterval(() => send(': heartbeat\n\n'), HEARTBEAT_MS);
    const end = () => {
      if (!this.#open.delete(end)) return;
      clearInterval(heartbeat);
      unsubscribe();
      reader.end();
    };
    this.#open.add(end);
    reader.once('close', end);
    send(': connected\n\n');
  }

  close(): void {
    for (const end of this.#open) end();
  }
}
