import { InvalidOptionError } from '../errors.js';

/**
 * Refuses to make a client in a browser's page or worker: every visitor could read the API secret there, and
 * create payments with it. jsdom in Node and Electron's main process have no visitors, and are let through.
 *
 * @throws {InvalidOptionError} in a browser
 */
export function assertNoBrowser(): void {
  const { process, document, navigator, WorkerNavigator } = globalThis as Partial<BrowserGlobals>;
  if (process?.versions?.node !== undefined) return;
  const isWorker = WorkerNavigator !== undefined && navigator instanceof WorkerNavigator;
  if (document === undefined && !isWorker) return;
  throw new InvalidOptionError(
    'apiSecret',
    'apiSecret must not be used in a browser: everyone who opens the page could read it and create payments; make the client on your server, and let the page call that',
  );
}

interface BrowserGlobals {
  // Node's, Bun's and Deno's. What bundlers put in its place names no version of Node.
  readonly process: { readonly versions?: { readonly node?: string } };
  readonly document: unknown;
  readonly navigator: unknown;
  readonly WorkerNavigator: new () => unknown;
}
