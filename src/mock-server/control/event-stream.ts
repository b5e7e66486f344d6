import type { Writable } from 'node:stream';
import type { PlainAnswer } from '../api/http-messages.js';
import type { EventFeed, MockEvent } from '../mock-service.js';
import { ControlFailure, GUARD_HEADERS } from './control-call.js';
import type { ControlEvent } from './control-types.js';

const MAX_STREAMS = 64;
const HEARTBEAT_MS = 15_000;
/** What may be queued for a slow reader. Beyond it the stream ends, and the reader can reconnect. */
const MAX_QUEUED_BYTES = 8_388_608;

interface EventStreamsOptions {
  readonly feed: EventFeed;
  readonly view: (event: MockEvent) => ControlEvent;
}

/** The open streams of server-sent events. */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #open = new Set<() => void>();

  constructor(options: EventStreamsOptions) {
    this.#options = options;
  }

  /** @throws {ControlFailure} when too many are open */
  open(left: AbortSignal): PlainAnswer {
    if (this.#open.size >= MAX_STREAMS) {
      throw new ControlFailure(
        'UNAVAILABLE',
        `At most ${MAX_STREAMS} event streams can be open; close one`,
      );
    }
    const headers = { ...GUARD_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' };
    return { status: 200, headers, body: '', follow: (reader) => this.#follow(reader, left) };
  }

  #follow(reader: Writable, left: AbortSignal): void {
    const send = (text: string) => {
      reader.write(text);
      if (reader.writableLength > MAX_QUEUED_BYTES) end();
    };
    const unsubscribe = this.#options.feed.subscribe((event) => {
      const text = this.#write(event);
      if (text === undefined) end();
      else send(text);
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

  // An event too long for one string ends the stream; the reader can reconnect.
  #write(event: MockEvent): string | undefined {
    try {
      const view = this.#options.view(event);
      return `event: ${view.type}\ndata: ${JSON.stringify(view)}\n\n`;
    } catch {
      return undefined;
    }
  }

  close(): void {
    for (const end of this.#open) end();
  }
}
