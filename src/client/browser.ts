import { InvalidOptionError } from '../errors.js';

/**
 * Refuses to make a client in a browser's page or worker, where every visitor could read the API secret and
 * create payments with it. jsdom in Node and Electron's main process have no visitors and are allowed.
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
    'apiSecret must not be used in a browser: everyone who opens the page could read it and create payments; create the client on your server, and let the page call your server',
  );
}

interface BrowserGlobals {
  // In Node, Bun and Deno. The stand-in that bundlers provide has no version of Node.
  readonly process: { readonly versions?: { readonly node?: string } };
  readonly document: unknown;
  readonly navigator: unknown;
  readonly WorkerNavigator: new () => unknown;
}
