import { expect, test } from 'vitest';
import { startEndpoint } from '../mock-server/merchant-endpoint.js';
import { startProcess } from './command-process.js';

test('from the start of the mock to the first callback that is delivered: four commands', async () => {
  await using endpoint = await startEndpoint();
  const startedMs = performance.now();
  const line = ['mock', '--port', '0', '--callback-url', endpoint.url];
  await using mock = startProcess(line);
  const [, url = ''] = await mock.printed(/MERCHANT_PAYMENTS_BASE_URL=(\S+)/);
  // The address that it says is the next command's, as in its output and in the guide.
  const run = async (...words: string[]) => {
    const { code, stdout, stderr } = await startProcess([...words, '--mock-url', url]).ended;
    expect(code, stderr).toBe(0);
    return stdout;
  };
  const creation = ['--reference', 'order-1001', '--amount', '2500', '--currency', 'EUR'];
  await run('payments', 'create', ...creation);
  await run('payments', 'set-status', 'order-1001', 'paid');
  expect(endpoint.received).toHaveLength(1);
  const seconds = (performance.now() - startedMs) / 1000;
  expect(await run('deliveries', 'list')).toMatch(/ paid +1 +200 /);
  console.log(`the first callback was delivered ${seconds.toFixed(1)} s after the start`);
});
