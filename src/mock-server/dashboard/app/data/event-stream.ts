import type { ControlEvent } from '../../../control/control-types.js';
import { CONTROL_BASE } from './control-client.js';

interface EventStreamOptions {
  /** The stream is open: what was shown before may be old. */
  readonly onOpen: () => void;
  readonly onEvent: (event: ControlEvent) => void;
  /** The stream broke; another try follows by itself. */
  readonly onLost: () => void;
}

const EVENT_TYPES: readonly ControlEvent['type'][] = [
  'payment',
  'request',
  'attempt',
  'delivery',
  'faults',
  'state',
  'reset',
];
const RECONNECT_MS = 1_000;

/**
 * Follows the mock's events for as long as the page is open. A page nobody looks at gives its
 * connection back: a browser has six for one origin, and six forgotten tabs would stop the seventh.
 */
export function followEvents({ onOpen, onEvent, onLost }: EventStreamOptions): void {
  let source: EventSource | undefined;
  let retry: number | undefined;

  function close(): void {
    window.clearTimeout(retry);
    source?.close();
    source = undefined;
  }

  function open(): void {
    close();
    const opened = new EventSource(`${CONTROL_BASE}events`);
    source = opened;
    opened.addEventListener('open', onOpen);
    // Its own reconnecting ends at the first answer that is no stream, such as that of a proxy.
    opened.addEventListener('error', () => {
      close();
      onLost();
      retry = window.setTimeout(open, RECONNECT_MS);
    });
    for (const type of EVENT_TYPES) {
      opened.addEventListener(type, ({ data }: MessageEvent<string>) => onEvent(JSON.parse(data)));
    }
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  open();
}
