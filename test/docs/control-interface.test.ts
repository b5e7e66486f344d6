import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startMockServer } from '../../src/mock-server/index.js';

const guide = readFileSync('docs/control-interface.md', 'utf8');
const rows = [...guide.matchAll(/^\| ((?:`[A-Z]+`, )*`[A-Z]+ \/_mock[^|]*) \|/gm)];
const calls = rows.flatMap(([, cell = '']) => {
  const path = /\/_mock[^`?]*/.exec(cell)?.[0] ?? '';
  return [...cell.matchAll(/`([A-Z]+)/g)].map(([, method = '']) => ({ method, path }));
});

describe('the page of the control interface', () => {
  test('was found', () => {
    expect(calls).toHaveLength(13);
  });

  test.each(calls)('$method $path is answered', async ({ method, path }) => {
    await using server = await startMockServer();
    const leave = new AbortController();
    const answer = await fetch(`${server.url}${path.replaceAll(/\{\w+\}/g, 'some-id')}`, {
      method,
      signal: leave.signal,
      headers: { 'content-type': 'application/json' },
      ...(method === 'POST' && { body: '{}' }),
    });
    const text = path.endsWith('/events') ? '' : await answer.text();
    leave.abort();
    expect(text).not.toContain('nothing at this path');
    expect(answer.status).not.toBe(405);
  });
});
