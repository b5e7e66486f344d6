import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type PlainAnswer, textAnswer } from '../api/http-messages.js';
import { ControlFailure, GUARD_HEADERS } from '../control/control-call.js';

interface Page {
  readonly html: string;
  readonly policy: string;
}

// CommonJS has the first, ES modules have the second.
const thisFile = typeof __filename === 'string' ? __filename : import.meta.url;

let page: Page | undefined;

/**
 * Returns the dashboard's page, which is read from its file on first use.
 *
 * @throws {ControlFailure} when the file is missing
 */
export function dashboardAnswer(): PlainAnswer {
  page ??= readPage();
  const { html, policy } = page;
  return textAnswer(200, html, {
    ...GUARD_HEADERS,
    'content-security-policy': policy,
    'content-type': 'text/html; charset=utf-8',
    'cross-origin-opener-policy': 'same-origin',
    'x-frame-options': 'DENY',
  });
}

/** @throws {ControlFailure} when the file is missing */
function readPage(): Page {
  try {
    // Resolved by the package's name, which works from every chunk of the build and from the sources.
    const file = createRequire(thisFile).resolve('merchant-payments/mock-server/dashboard.html');
    const html = readFileSync(file, 'utf8');
    return { html, policy: createPolicy(html) };
  } catch {
    throw new ControlFailure(
      'UNAVAILABLE',
      'The dashboard is missing from this copy of the package, which may have been bundled; install the package unbundled. The rest of the control interface works without it',
    );
  }
}

/**
 * Allows the page's own script and style, by their digests, and connections to the page's origin. Allows
 * nothing else, and no text to become markup.
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
  const contents = html.matchAll(new RegExp(`<${element}[^<>]*>(.*?)(?:</${element}>|$)`, 'gs'));
  return Array.from(contents, ([, text = '']) => {
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  }).join(' ');
}
