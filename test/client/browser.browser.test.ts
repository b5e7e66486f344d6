import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, openPage } from '../browser/browser.js';

/** The package as a bundler for browsers makes it, with nothing in place of Node's modules. */
async function bundleForBrowsers(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import { PaymentClient } from './src/index.ts';
        const options = { baseUrl: 'https://payments.example', apiKey: 'k', apiSecret: 's', fetch };
        const attempts = [() => new PaymentClient(options), () => PaymentClient.fromEnv()];
        globalThis.said = attempts.map((attempt) => {
          try { attempt(); return 'made a client'; } catch (error) { return error.code + ' ' + error.message; }
        });
        if (typeof document === 'undefined') postMessage(globalThis.said);`,
      resolveDir: '.',
    },
    plugins: [
      {
        name: 'stubs',
        setup(bundler) {
          bundler.onResolve({ filter: /^(node:|undici)/ }, ({ path }) => ({
            path,
            namespace: 'stub',
          }));
          bundler.onLoad({ filter: /./, namespace: 'stub' }, () => ({ contents: '' }));
        },
      },
    ],
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

describeInBrowser('a client in a browser', () => {
  const server = createServer(({ url }, response) => {
    const isScript = url === '/bundle.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<link rel="icon" href="data:,">');
  });
  let script: string;
  let origin: string;
  beforeAll(async () => {
    script = await bundleForBrowsers();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  it.each([
    ['a page', "import('/bundle.js').then(() => globalThis.said)"],
    [
      'a worker',
      `new Promise((resolve, reject) => {
        const worker = new Worker('/bundle.js', { type: 'module' });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
      })`,
    ],
  ])('is refused in %s', async (_, run) => {
    await using opened = await openPage({ origins: [origin] });
    await opened.page.goto(origin);
    const refused = expect.stringMatching(
      /^INVALID_OPTION apiSecret must not be used in a browser/,
    );
    expect(await opened.page.evaluate(run)).toEqual([refused, refused]);
  });
});
