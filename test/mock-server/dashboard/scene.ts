import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import {
  type MockServer,
  type MockServerOptions,
  startMockServer,
} from '../../../src/mock-server/index.js';
import { callbackHandler } from '../../../src/node/callback-handler.js';
import { findChromium } from './chromium.js';

const executablePath = findChromium();

let browser: Browser | undefined;

/** As describe, with a browser; skipped where there is none, which global-setup.ts says. */
export function describeInBrowser(name: string, cases: () => void): void {
  describe.skipIf(executablePath === undefined)(name, () => {
    beforeAll(async () => {
      // Chromium refuses its sandbox to root, who runs containers.
      const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
      browser = await chromium.launch({ executablePath: executablePath ?? '', args });
    });
    afterAll(() => browser?.close());
    cases();
  });
}

interface SceneOptions {
  readonly server?: MockServerOptions;
  readonly context?: BrowserContextOptions;
  /** What stands behind `/_mock/`, for example `#/faults`. */
  readonly hash?: string;
  /** Puts the page's own clock under the test's control: `page.clock`. */
  readonly hasOwnClock?: boolean;
  /** Messages of the browser's console that the test provokes. */
  readonly expectedErrors?: RegExp;
}

/** A mock server and its dashboard in a browser. When it is left, whatever went wrong in the page fails the test. */
export interface Scene extends AsyncDisposable {
  readonly server: MockServer;
  readonly page: Page;
}

export async function openDashboard(options: SceneOptions = {}): Promise<Scene> {
  const { server: serverOptions, hash = '', context: contextOptions, expectedErrors } = options;
  if (browser === undefined) throw new Error('openDashboard is called outside describeInBrowser');
  const server = await startMockServer(serverOptions);
  const context = await browser.newContext({ reducedMotion: 'reduce', ...contextOptions });
  const problems: string[] = [];
  context.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${server.url}/_mock/`) && !url.startsWith('data:')) {
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
  page.setDefaultTimeout(10_000);
  if (options.hasOwnClock) await page.clock.install();
  await page.goto(`${server.url}/_mock/${hash}`);
  await page
    .getByText('Live', { exact: true })
    .waitFor()
    .catch((error: unknown) => {
      throw new Error(`The page did not come up:\n${problems.join('\n')}`, { cause: error });
    });

  return {
    server,
    page,
    async [Symbol.asyncDispose]() {
      await context.close();
      await server.close();
      if (problems.length > 0) throw new Error(`The page misbehaved:\n${problems.join('\n')}`);
    },
  };
}

/** `await eventually(() => …).toBe(…)`: the page draws, and moves the focus, after what it answers to. */
export const eventually = <Value>(read: () => Value | Promise<Value>) =>
  expect.poll(read, { timeout: 10_000 });

export interface Merchant extends AsyncDisposable {
  readonly url: string;
  /** Statuses that were handled, in order. */
  readonly handled: readonly string[];
}

/** A merchant's endpoint as this package makes it. */
export async function startMerchant(signingSecret: string): Promise<Merchant> {
  const handled: string[] = [];
  const handler = callbackHandler({
    signingSecret,
    onPayment: ({ payment }) => void handled.push(payment.status),
    onRejected: () => undefined,
    onError: () => undefined,
  });
  const endpoint = http.createServer(handler);
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  const { port } = endpoint.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/callbacks/payments`,
    handled,
    async [Symbol.asyncDispose]() {
      endpoint.closeAllConnections();
      await new Promise((resolve) => endpoint.close(resolve));
    },
  };
}
