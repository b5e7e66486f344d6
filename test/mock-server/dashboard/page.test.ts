import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startMockServer } from '../../../src/mock-server/index.js';
import { rawRequest } from '../control/control-client.js';

const file = readFileSync('dist/mock-server/dashboard.html', 'utf8');

test('is the file from the build', async () => {
  await using server = await startMockServer();
  const answer = await rawRequest(server, 'GET', '/_mock/', {});
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(answer.text).toBe(file);
});

test('allows only its own script and style, and no framing', async () => {
  await using server = await startMockServer();
  const { headers } = await rawRequest(server, 'GET', '/_mock/', {});
  const digest = (element: string) => {
    const [, text = ''] = new RegExp(`<${element}[^>]*>([^]*?)</${element}>`).exec(file) ?? [];
    expect(text).not.toBe('');
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  };
  expect(String(headers['content-security-policy']).split('; ')).toEqual([
    "default-src 'none'",
    `script-src ${digest('script')}`,
    `style-src ${digest('style')}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ]);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
  });
});

test('refers to nothing outside', () => {
  expect(file.match(/<script/g)).toHaveLength(1);
  expect(file.match(/<style/g)).toHaveLength(1);
  expect(file).not.toMatch(/<(?:img|iframe|object|embed|base)\b|<script[^>]*\ssrc|@import|url\(/);
  expect(file.match(/<link[^>]*>/g) ?? []).toEqual([
    expect.stringMatching(/^<link rel="icon" href="data:image\/svg\+xml[^"]*"\s*\/?>$/),
  ]);
});
