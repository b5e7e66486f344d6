import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { textAnswer } from '../api/answers.js';

interface Page {
  readonly html: string;
  readonly policy: string;
}

let page: Promise<Page> | undefined;

/** The dashboard's page, read from its one file when it is first asked for. */
export async function dashboardAnswer(): Promise<Response> {
  page ??= readPage();
  const { html, policy } = await page;
  return textAnswer(200, html, {
    'cache-control': 'no-store',
    'content-security-policy': policy,
    'content-type': 'text/html; charset=utf-8',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
}

async function readPage(): Promise<Page> {
  // By the package's name: from a file of the build, from the sources, and whatever bundles them, it is
  // the same file.
  const file = createRequire(import.meta.url).resolve('merchant-payments/mock-server/dashboard.html');
  const html = await readFile(file, 'utf8');
  return { html, policy: createPolicy(html) };
}

/**
 * Runs the page's own script and style, known by their digests, and nothing else; connects to where
 * the page came from; and lets no text become markup.
 */
function createPolicy(html: string): string {
  return [
    "default-src 'none'",
    `script-src ${digestsOf(html, 'script')}`,
    `style-src ${digestsOf(html, 'style')}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

function digestsOf(html: string, element: 'script' | 'style'): string {
  const contents = html.matchAll(new RegExp(`<${element}[^>]*>(.*?)</${element}>`, 'gs'));
  return Array.from(contents, ([, text = '']) => {
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  }).join(' ');
}
