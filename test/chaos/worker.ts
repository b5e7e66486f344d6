import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHandler } from './merchant-code.js';
import type { WorkerConfig, WorkerMessage } from './worker-config.js';

// A receiver process: bundled and started by the fleet, its WorkerConfig is the first argument.

function tell(message: WorkerMessage): void {
  process.send?.(message);
}

// No message of an error with a code: it may name a port, and would be another one each time.
function describe(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if ('code' in error) return String(error.code);
  return error.name === 'Error' ? error.message.slice(0, 40) : error.name;
}

async function main(): Promise<void> {
  const config = JSON.parse(process.argv[2] ?? '') as WorkerConfig;
  const handler = await createHandler(config, {
    onError: (error) => tell({ error: describe(error) }),
    onMistake: (mistake) => tell({ mistake }),
  });
  const server = createServer(handler);
  server.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }));
  // The run has ended, and nothing else would end this process.
  process.once('disconnect', () => process.exit());
}

main();
