import { expect, test } from 'vitest';
import { startEndpoint } from '../mock-server/merchant-endpoint.js';
import { secretEnv } from './merchant-server.js';
import { startCommand } from './run-command.js';

test('on a terminal progress is one line that is written again, and then what failed and totals', async () => {
  await using endpoint = await startEndpoint(() => 401);
  const { code, stdout, stderr } = await startCommand(['check', endpoint.url], {
    env: { ...secretEnv, TERM: 'dumb' },
    columns: 50,
  }).ended;
  expect(code).toBe(1);
  const shown = stderr.split('\r\u001b[K');
  expect(shown[1]).toMatch(/^1 checked: probe-answers skipped$/);
  expect(shown[3]).toMatch(/^3 checked: valid-accepted failed$/);
  expect(shown.at(-1)).toBe('');
  for (const line of shown) {
    expect(line).not.toContain('\n');
    expect(line.length).toBeLessThan(50);
  }
  expect(stdout).toMatch(/^Checks of\nhttp/);
  expect(stdout).toMatch(/\nFAIL {2}valid-accepted: [\s\S]*\nskipped: [\s\S]*1 passed, 1 failed/);
});
