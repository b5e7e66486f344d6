import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';

const endpoint = process.env['BROWSER_ENDPOINT'];

let browser: Browser | undefined;

/** As `describe`, with a browser. Skipped without one, which global-setup.ts reports. */
export function describeInBrowser(name: string, cases: () => void): void {
  describe.skipIf(endpoint === undefined)(name, () => {
    beforeAll(async () => {
      browser = await chromium.connect(endpoint ?? '');
    });
    // Closes its contexts. The browser keeps running for the next file.
    afterAll(() => browser?.close());
    cases();
  });
}

/** The browser that describeInBrowser opened. */
export function openedBrowser(): Browser {
  if (browser === undefined) throw new Error('a browser is open only within describeInBrowser');
  return browser;
}

interface PageOptions {
  readonly context?: BrowserContextOptions | undefined;
  /** The prefixes that all requested URLs must have. */
  readonly origins: readonly string[];
  /** Messages of the browser's console that the test provokes. */
  readonly expectedErrors?: RegExp | undefined;
}

/** An empty page in a new context. Disposing of it fails the test if anything went wrong in the page. */
export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  /** The problems so far. */
  readonly problems: readonly string[];
}

export async function openPage(options: PageOptions): Promise<WatchedPage> {
  const { context: contextOptions, origins, expectedErrors } = options;
  const context = await openedBrowser().newContext({ reducedMotion: 'reduce', ...contextOptions });
  const problems: string[] = [];
  context.on('request', (request) => {
    const url = request.url();
    if (!['data:', ...origins].some((origin) => url.startsWith(origin))) {
      problems.push(`left the origin: ${url}`);
    }
  });
  context.on('console', (message) => {
    const isProblem = message.type() === 'error' || message.type() === 'warning';
    if (isProblem && !expectedErrors?.test(message.text())) {
      problems.push(`console ${message.type()}: ${message.text()}`);
    }
  });
  context.on('weberror', (error) => void problems.push(`thrown: ${error.error().message}`));
  await context.exposeFunction('reportViolation', (directive: string) => {
    problems.push(`Content-Security-Policy: ${directive}`);
  });
  await context.addInitScript(`
    addEventListener('securitypolicyviolation', (event) => reportViolation(event.violatedDirective));
  `);
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  return {
    page,
    problems,
    async [Symbol.asyncDispose]() {
      await context.close();
      if (problems.length > 0) throw new Error(`The page misbehaved:\n${problems.join('\n')}`);
    },
  };
}
