import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { markupText } from '../../protocol/plain-text.js';
import { type PlainAnswer, type PlainRequest, textAnswer } from '../api/http-messages.js';
import { ControlFailure, GUARD_HEADERS } from '../control/control-call.js';

const STYLE = `
:root { color-scheme: light dark; --ground: light-dark(#eef1f5, #10141a); --card: light-dark(#fff, #1a1f27);
  --text: light-dark(#17202b, #e6eaf0); --muted: light-dark(#566072, #a3adbd); --line: light-dark(#dce0e8, #303743);
  --accent: light-dark(#0b6e69, #5fd4ca); --on-accent: light-dark(#fff, #04211f); --good: light-dark(#14713b, #6fd695);
  --bad: light-dark(#b3261e, #ff9d94); }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-content: start center; grid-template-columns: minmax(0, 26rem);
  gap: 1rem; padding: clamp(1rem, 8vh, 5rem) 1rem 1rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
main { padding: 2rem; border: 1px solid var(--line); border-radius: 16px; background: var(--card);
  box-shadow: 0 8px 30px rgb(0 0 0 / .08); }
h1 { margin: 0 0 .25rem; font-size: 1rem; font-weight: 600; color: var(--muted); }
.amount { margin: 0; font-size: 2.75rem; font-weight: 700; line-height: 1.15; overflow-wrap: anywhere; }
.amount small { font-size: 1.25rem; font-weight: 600; color: var(--muted); }
.mark { width: 3rem; height: 3rem; margin-bottom: 1rem; border: 3px solid; border-radius: 50%; display: grid;
  place-content: center; font-size: 1.5rem; font-weight: 700; }
.good { color: var(--good); } .bad { color: var(--bad); }
dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .25rem 1rem; margin: 1.25rem 0; padding: 1rem 0 0;
  border-top: 1px solid var(--line); }
dt, .muted { color: var(--muted); } dd { margin: 0; text-align: end; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; }
button, .button { display: block; width: 100%; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: 10px;
  background: transparent; color: inherit; font: inherit; font-weight: 600; text-align: center; text-decoration: none;
  cursor: pointer; }
button.primary, .button.primary { border-color: transparent; background: var(--accent); color: var(--on-accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.tests { padding: 0 .25rem; font-size: .875rem; color: var(--muted); }
.tests h2 { margin: 0 0 .5rem; font-size: .875rem; }
.tests div { display: flex; flex-wrap: wrap; gap: .5rem; margin-bottom: .75rem; }
.tests p { margin: 0 0 .25rem; }
.number { white-space: nowrap; }
.tests button { width: auto; padding: .375rem .75rem; font-weight: 400; }
`;
const STYLE_DIGEST = createHash('sha256').update(STYLE).digest('base64');

interface HtmlPage {
  /** @default 200 */
  readonly status?: number;
  readonly title: string;
  /** Markup: what it quotes must be escaped. */
  readonly body: string;
  /** Where a form may lead: browsers hold a form's redirect to the policy. */
  readonly formTarget?: URL | undefined;
}

/** A page for a person, without a script. */
export function htmlPage({ status = 200, title, body, formTarget }: HtmlPage): PlainAnswer {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`;
  return textAnswer(status, html, {
    ...GUARD_HEADERS,
    'content-security-policy': createPolicy(formTarget),
    'content-type': 'text/html; charset=utf-8',
    'cross-origin-opener-policy': 'same-origin',
    // Without a referrer a browser sends the form with the origin null, which is refused.
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
  });
}

/** For an address that leads nowhere. */
export const errorPage = (status: number, heading: string, text: string): PlainAnswer =>
  htmlPage({
    status,
    title: heading,
    body: `<main>
<div class="mark bad" aria-hidden="true">?</div>
<h1>${escapeHtml(heading)}</h1>
<p>${escapeHtml(text)}</p>
<a class="button" href="/_mock/">Open the dashboard</a>
</main>`,
  });

/** Not cached: another program may listen here later. */
export function redirectToPage(): PlainAnswer {
  const headers = { location: '/_mock/', 'cache-control': 'no-store' };
  return { status: 308, headers, body: '' };
}

/** Answers a browser that opens an address or asks for its icon, which is no request of the merchant's code. */
export function answerVisit({ method, path, headers }: PlainRequest): PlainAnswer | undefined {
  if (method !== 'GET') return undefined;
  if (path === '/favicon.ico') return { status: 404, headers: {}, body: '' };
  if (!headers['accept']?.includes('text/html')) return undefined;
  if (path === '/') return redirectToPage();
  const text = 'The mock answers its API and shows pages.';
  return errorPage(404, 'There is nothing at this address', text);
}

function createPolicy(formTarget: URL | undefined): string {
  // A host may hold characters that end a directive.
  const origin = /^https?:\/\/[\w.:[\]-]+$/.exec(formTarget?.origin ?? '')?.[0] ?? '';
  return [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_DIGEST}'`,
    'img-src data:',
    `form-action 'self' ${origin}`.trim(),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export const escapeHtml = (text: string): string => markupText(text).replaceAll("'", '&#39;');

interface Dashboard {
  readonly html: string;
  readonly policy: string;
}

// CommonJS has the first, ES modules have the second.
const thisFile = typeof __filename === 'string' ? __filename : import.meta.url;

let dashboard: Dashboard | undefined;

/**
 * Returns the dashboard's page, which is read from its file on first use.
 *
 * @throws {ControlFailure} when the file is missing
 */
export function dashboardAnswer(): PlainAnswer {
  dashboard ??= readDashboard();
  const { html, policy } = dashboard;
  return textAnswer(200, html, {
    ...GUARD_HEADERS,
    'content-security-policy': policy,
    'content-type': 'text/html; charset=utf-8',
    'cross-origin-opener-policy': 'same-origin',
    'x-frame-options': 'DENY',
  });
}

/** @throws {ControlFailure} when the file is missing */
function readDashboard(): Dashboard {
  try {
    // Resolved by the package's name, which works from every chunk of the build and from the sources.
    const file = createRequire(thisFile).resolve('merchant-payments/mock-server/dashboard.html');
    const html = readFileSync(file, 'utf8');
    return { html, policy: createDashboardPolicy(html) };
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
function createDashboardPolicy(html: string): string {
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
