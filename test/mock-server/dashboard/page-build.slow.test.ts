import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const _APP = 'src/mock-server/dashboard/app';
const MAX_BYTES = 90_000;

let folder = '';
let page = '';

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'dashboard-'));
  const file = path.join(folder, 'made/dashboard.html');
  execFileSync(process.execPath, ['scripts/build-dashboard.mjs', file]);
  page = readFileSync(file, 'utf8');
});

afterAll(() => rmSync(folder, { recursive: true }));

/** The page without the content of its script and its style. */
const markup = () => page.replaceAll(/<(script|style)([^>]*)>.*?<\/\1>/gs, '<$1$2></$1>');

test('the page is one script and one style', () => {
  expect(markup().match(/<script[^>]*>/g)).toEqual(['<script type="module">']);
  expect(markup().match(/<style[^>]*>/g)).toEqual(['<style>']);
  // Nothing ends either of them early.
  expect(page.match(/<\/(script|style)/gi)).toHaveLength(2);
  expect(page).not.toContain('<!--');
});

test('its markup has no reference to the outside, no handler and no style attribute', () => {
  expect(markup()).not.toMatch(/\s(style|on\w+|src)=/i);
  expect(markup().match(/\shref="[^"]{0,19}/g)).toEqual([' href="data:image/svg+xml,']);
});

test('it is at most 90 KB', () => {
  expect(Buffer.byteLength(page)).toBeLessThanOrEqual(MAX_BYTES);
});
