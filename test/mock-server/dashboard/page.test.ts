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

/** The page without the content of its script and its style. */
const markup = file.replaceAll(/<(script|style)([^>]*)>.*?<\/\1>/gs, '<$1$2></$1>');

test('is one script and one style, of at most 90 KB', () => {
  expect(markup.match(/<script[^>]*>/g)).toEqual(['<script type="module">']);
  expect(markup.match(/<style[^>]*>/g)).toEqual(['<style>']);
  // Nothing ends either of them early.
  expect(file.match(/<\/(script|style)/gi)).toHaveLength(2);
  expect(file).not.toContain('<!--');
  expect(Buffer.byteLength(file)).toBeLessThanOrEqual(90_000);
});

test('has no reference to the outside, no handler and no style attribute', () => {
  expect(markup).not.toMatch(/\s(style|on\w+|src)=/i);
  expect(markup.match(/\shref="[^"]{0,19}/g)).toEqual([' href="data:image/svg+xml,']);
  expect(file).not.toMatch(/<(?:img|iframe|object|embed|base)\b|@import|url\(/);
});
