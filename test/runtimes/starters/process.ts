// For Node, Bun and Deno: runs the cases and prints a line for each. It ends by itself: what keeps
// the process open is a leak.

import { callback } from '../cases/callback.js';
import { callbackWeb } from '../cases/callback-web.js';
import { runGroups } from '../cases/case.js';
import { clientCases } from '../cases/client.js';
import { fetchAdapter } from '../cases/fetch.js';
import { mockServer } from '../cases/mock-server.js';

const client = clientCases({
  ownTransport: 'Bun' in globalThis ? 'fetch' : 'undici',
  unconnectedByFetch: 'Deno' in globalThis ? 'unknown' : 'not-sent',
});

await runGroups([callback, callbackWeb, fetchAdapter, client, mockServer], (line) =>
  console.log(JSON.stringify(line)),
);
