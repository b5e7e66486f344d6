import type { Writable } from 'node:stream';
import type { PlainAnswer } from '../api/http-messages.js';
import type { EventFeed, MockEvent } from '../mock-service.js';
import { ControlFailure, GUARD_HEADERS } from './control-call.js';
import type { ControlEvent } from './control-types.js';

const MAX_STREAMS = 64;
const HEARTBEAT_MS = 15_000;
/** What may be queued for a slow reader. Beyond it the stream ends, and the reader can reconnect. */
const MAX_QUEUED_BYTES = 8_388_608;

/** The open streams of server-sent events. */
export class EventStreams {
  readonly #feed: EventFeed;
  readonly #view: (event: MockEvent) => ControlEvent;
  readonly #open = new Set<() => void>();

  constructor(feed: EventFeed, view: (event: MockEvent) => ControlEvent) {
    this.#feed = feed;
    this.#view = view;
  }

  /** @throws {ControlFailure} when too many are open */
  open(left: AbortSignal): PlainAnswer {
    if (this.#open.size >= MAX_STREAMS) {
      const message = `At most ${MAX_STREAMS} event streams can be open; close one`;
      throw new ControlFailure('UNAVAILABLE', message);
    }
    const headers = { ...GUARD_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' };
    return { status: 200, headers, body: '', follow: (reader) => this.#follow(reader, left) };
  }

  #follow(reader: Writable, left: AbortSignal): void {
    const send = (text: string) => {
      reader.write(text);
      if (reader.writableLength > MAX_QUEUED_BYTES) end();
    };
    const unsubscribe = this.#feed.subscribe((event) => {
      try {
        const view = this.#view(event);
        send(`event: ${view.type}\ndata: ${JSON.stringify(view)}\n\n`);
      } catch {
        // An event too long for one string ends the stream; the reader can reconnect.
        end();
      }
    });
    const heartbeat = setInterval(() => send(': heartbeat\n\n'), HEARTBEAT_MS);
    const end = () => {
      if (!this.#open.delete(end)) return;
      clearInterval(heartbeat);
      unsubscribe();
      left.removeEventListener('abort', end);
      reader.end();
    };
    this.#open.add(end);
    // A pipelined answer that waits for its turn is not closed with its connection.
    left.addEventListener('abort', end);
    if (left.aborted) end();
    else send(': connected\n\n');
  }

  close(): void {
    for (const end of this.#open) end();
  }
}
