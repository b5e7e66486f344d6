import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import {
  type MockServer,
  type MockServerOptions,
  startMockServer,
} from '../../../src/mock-server/index.js';
import { openPage } from '../../browser/browser.js';

interface SceneOptions {
  readonly server?: MockServerOptions;
  readonly context?: BrowserContextOptions;
  /** What follows `/_mock/`, for example `#/faults`. */
  readonly hash?: string;
  /** Puts the page's own clock under the test's control: `page.clock`. */
  readonly hasOwnClock?: boolean;
  /** Messages of the browser's console that the test provokes. */
  readonly expectedErrors?: RegExp;
}

/** A mock server and its dashboard in a browser. Disposing of it fails the test if anything went wrong in the page. */
export interface Scene extends AsyncDisposable {
  readonly server: MockServer;
  readonly page: Page;
}

export async function openDashboard(options: SceneOptions = {}): Promise<Scene> {
  const { server: serverOptions, hash = '', context, expectedErrors } = options;
  const server = await startMockServer(serverOptions);
  const origins = [`${server.url}/_mock/`];
  const watched = await openPage({ context, origins, expectedErrors });
  const { page, problems } = watched;
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
      try {
        await watched[Symbol.asyncDispose]();
      } finally {
        await server.close(); // after the page, which must not lose its connection
      }
    },
  };
}

/** `await eventually(() => …).toBe(…)`: the page draws and moves the focus some time after an event. */
export const eventually = <Value>(read: () => Value | Promise<Value>) =>
  expect.poll(read, { timeout: 30_000 });

/** The line of the stream that has this text. */
export const line = (page: Page, text: string | RegExp): Locator =>
  page.locator('.line', { hasText: text });

export interface Look {
  readonly name: string;
  readonly colorScheme: 'light' | 'dark';
  readonly viewport: { readonly width: number; readonly height: number };
}

/** Runs `act` in each look, and leaves the page in the first one. */
export async function inEachLook(
  page: Page,
  looks: readonly [Look, ...Look[]],
  act: (look: Look) => Promise<void>,
): Promise<void> {
  for (const look of looks) {
    await take(page, look);
    await act(look);
  }
  await take(page, looks[0]);
}

async function take(page: Page, { colorScheme, viewport }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.setViewportSize(viewport);
}

/** How many pixels the page is wider than its window: 0 where it does not scroll sideways. */
export const overflowOf = (page: Page): Promise<unknown> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
