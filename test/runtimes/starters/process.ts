// For Node, Bun and Deno: runs the cases and prints a line for each. It ends by itself: what keeps
// the process open is a leak.

import type { PaymentClientOptions } from 'merchant-payments';
import { callback } from '../cases/callback.js';
import { callbackAsync } from '../cases/callback-async.js';
import { runGroups } from '../cases/case.js';
import { clientCases } from '../cases/client.js';
import { mockServer } from '../cases/mock-server.js';

/** undici 8 needs Node 22.19. */
async function makeDispatcher(): Promise<PaymentClientOptions['dispatcher']> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isNode = !('Bun' in globalThis) && !('Deno' in globalThis);
  if (!isNode || major < 22 || (major === 22 && minor < 19)) return undefined;
  const installed: string = 'undici-8'; // beside the package, not in the project
  const { Agent } = await import(installed);
  return new Agent();
}

const client = clientCases({
  dispatcher: await makeDispatcher(),
  ownTransport: 'Bun' in globalThis ? 'fetch' : 'undici',
  unconnectedByFetch: 'Deno' in globalThis ? 'unknown' : 'not-sent',
});

await runGroups([callback, callbackAsync, client, mockServer], (line) =>
  console.log(JSON.stringify(line)),
);
