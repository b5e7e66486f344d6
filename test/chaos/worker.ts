import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHandler } from './merchant-code.js';
import type { WorkerConfig } from './worker-config.js';
import { describe, tell } from './worker-messages.js';

// A receiver process: bundled and started by the fleet, its WorkerConfig is the first argument.

async function main(): Promise<void> {
  const config = JSON.parse(process.argv[2] ?? '') as WorkerConfig;
  const handler = await createHandler(config, (error) => tell({ error: describe(error) }));
  const server = createServer(handler);
  server.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }));
  // The run has ended, and nothing else would end this process.
  process.once('disconnect', () => process.exit());
}

main();
