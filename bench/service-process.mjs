import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Starts the service to which payments are sent, in a process of its own. */
export async function startService() {
  const server = fork(fileURLToPath(new URL('./client-server.mjs', import.meta.url)));
  const [port] = await once(server, 'message');
  return { baseUrl: `http://127.0.0.1:${port}`, stop: () => server.disconnect() };
}
