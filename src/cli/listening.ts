import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const BETWEEN_TRIES_MS = 100;
const LONGEST_TRY_MS = 1_000;

/**
 * Waits until something listens where the URL leads, and tells whether it does in time. It sends
 * nothing.
 *
 * @throws the signal's reason when that is aborted
 */
export async function isListeningWithin(
  url: URL,
  withinMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (;;) {
    const leftMs = end - performance.now();
    if (await canConnect(url, Math.max(1, Math.min(leftMs, LONGEST_TRY_MS)))) return true;
    if (performance.now() + BETWEEN_TRIES_MS >= end) return false;
    await sleep(BETWEEN_TRIES_MS, undefined, { signal });
  }
}

function canConnect(url: URL, timeoutMs: number): Promise<boolean> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return new Promise((resolve) => {
    const socket = connect({ host, port, autoSelectFamily: true });
    const settle = (answer: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => settle(false), timeoutMs);
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}
