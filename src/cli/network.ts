import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_INTERVAL_MS = 100;
const MAX_CONNECT_MS = 1_000;

/**
 * Waits until something listens at the host and port of the URL. Sends nothing. Resolves with whether it
 * listened in time.
 */
export async function isListeningWithin(
  { hostname, port, protocol }: URL,
  withinMs: number,
): Promise<boolean> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const end = performance.now() + withinMs;
  for (;;) {
    const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) });
    // Also after the wait has ended.
    socket.on('error', () => undefined);
    const connected = await once(socket, 'connect', {
      signal: AbortSignal.timeout(MAX_CONNECT_MS),
    }).then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (connected) return true;
    if (performance.now() + RETRY_INTERVAL_MS >= end) return false;
    await sleep(RETRY_INTERVAL_MS);
  }
}
