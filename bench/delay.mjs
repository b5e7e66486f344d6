import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PORTS = { 'postgres:': '5432', 'postgresql:': '5432', 'mysql:': '3306' };

/** Starts a proxy, and gives the URL by which the database is so many milliseconds away. */
export async function startDelay(url, roundTripMs) {
  const target = new URL(url);
  target.port ||= PORTS[target.protocol];
  const path = fileURLToPath(new URL('./delaying-proxy.mjs', import.meta.url));
  const proxy = fork(path, [target.href, String(roundTripMs)]);
  const [port] = await once(proxy, 'message');
  const delayed = new URL(url);
  delayed.hostname = '127.0.0.1';
  delayed.port = String(port);
  return { url: delayed.href, stop: () => proxy.disconnect() };
}
