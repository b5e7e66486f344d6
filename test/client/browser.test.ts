import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PaymentClient } from '../../src/client/payment-client.js';

const options = { baseUrl: 'https://payments.example', apiKey: 'k', apiSecret: 'planted-secret' };

class WorkerNavigator {}

/** Runs with these globals in place of Node's. */
function within(globals: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
  onTestFinished(() => void vi.unstubAllGlobals());
}

const page = { window: {}, document: {}, navigator: {} };
const worker = { WorkerNavigator, navigator: new WorkerNavigator() };

describe.each([
  ['a page', { ...page, process: undefined }],
  ['a page with what a bundler puts in place of process', { ...page, process: { versions: {} } }],
  ['a page with process.env alone', { ...page, process: { env: {} } }],
  ['a worker', { ...worker, process: undefined }],
])('%s', (_, globals) => {
  it.each([
    ['new PaymentClient', () => new PaymentClient(options)],
    ['fromEnv', () => PaymentClient.fromEnv(options)],
    ['fromEnv without its variables', () => PaymentClient.fromEnv()],
  ])('is refused by %s', (__, make) => {
    within(globals);
    expect(make).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        option: 'apiSecret',
        message: expect.stringMatching(/^apiSecret must not be used in a browser: .*your server/),
      }),
    );
    expect(make).not.toThrow('planted-secret');
  });
});

it.each([
  ['Node, with what jsdom defines', page],
  ['Node, with all of a browser', { ...page, ...worker }],
  ['workerd', { process: undefined, navigator: { userAgent: 'Cloudflare-Workers' } }],
  ['workerd with a class of this name', { process: undefined, WorkerNavigator, navigator: {} }],
  ["Vercel's edge runtime", { process: { env: {} }, EdgeRuntime: 'edge-runtime' }],
])('%s is no browser', (_, globals) => {
  within(globals);
  expect(new PaymentClient(options).toJSON()).toEqual({ baseUrl: 'https://payments.example' });
});
