import { createHash } from 'node:crypto';
import { markupText } from '../../protocol/plain-text.js';
import { httpUrl } from '../../protocol/url.js';
import {
  matchPath,
  type PlainAnswer,
  type PlainRequest,
  textAnswer,
} from '../api/http-messages.js';
import type { MockService } from '../mock-service.js';
import type { MockPayment, PaymentBook } from '../state/payments.js';
import { ControlFailure, GUARD_HEADERS, notFound } from './control-call.js';

interface PaymentPageSource {
  readonly service: Pick<MockService, 'pay' | 'setStatus'>;
  readonly payments: PaymentBook;
}

/** What the page offers. Works without a script: each is a button of one form. */
const actions: Readonly<
  Record<string, (source: PaymentPageSource, payment: MockPayment) => unknown>
> = {
  pay: ({ service }, payment) => service.pay(payment),
  decline: ({ service }, payment) => service.setStatus(payment, DECLINED),
  leave: () => undefined,
  'pay-twice': payTwice,
};

/** The interface names `paid` alone. */
const DECLINED = 'declined';

/** As a customer does who pays in two tabs: a shop that sends a second creation gets a second payment. */
async function payTwice({ service, payments }: PaymentPageSource, payment: MockPayment) {
  const { merchantPaymentReference, amount, currency, extra } = payment;
  await service.pay(payment);
  await service.pay(payments.create({ ...extra, merchantPaymentReference, amount, currency }));
}

/**
 * The page on which a person pays, in place of the page that the real service may have: the interface shows none.
 *
 * @throws {ControlFailure} when there is no such payment or action
 * @throws {InvalidOptionError} when `returnUrl` is no http or https address
 */
export async function answerPaymentPage(
  request: PlainRequest,
  source: PaymentPageSource,
): Promise<PlainAnswer> {
  const { method, pathname, search } = request;
  const id = matchPath('/_mock/pay/:id', pathname) ?? '';
  const payment = source.payments.get(id);
  if (payment === undefined) throw notFound('payment', id);
  if (method === 'GET')
    return pageAnswer(payment, findReturnUrl(payment, new URLSearchParams(search)));
  if (method !== 'POST') {
    const headers = { allow: 'GET, POST' };
    throw new ControlFailure('METHOD_NOT_ALLOWED', 'The method must be GET or POST', { headers });
  }
  const body = await request.readBody();
  const form = new URLSearchParams(body && Buffer.from(body).toString());
  const returnUrl = findReturnUrl(payment, form);
  const name = form.get('action') ?? '';
  const act = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (act === undefined) {
    const names = Object.keys(actions).join(', ');
    throw new ControlFailure('INVALID_REQUEST', `action must be one of ${names}`, {
      option: 'action',
    });
  }
  // Settles with the first attempt of the callback, unless a fault delays that: then the customer is back first.
  // A button that is pressed twice pays once.
  if (source.payments.get(id)?.status !== 'paid') await act(source, payment);
  const location = returnUrl?.href ?? pathname;
  return { status: 303, headers: { ...GUARD_HEADERS, location }, body: '' };
}

/** That of the query or the form, or else of the creation, if it is an address there. */
function findReturnUrl({ extra }: MockPayment, given: URLSearchParams): URL | undefined {
  const asked = given.get('returnUrl');
  if (asked !== null && asked !== '') return httpUrl(asked, 'returnUrl');
  try {
    return httpUrl(extra['returnUrl'], 'returnUrl');
  } catch {
    return undefined;
  }
}

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0 auto; padding: 2rem 1rem; max-width: 30rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; }
dd { margin: 0; overflow-wrap: anywhere; }
button { font: inherit; margin: 0 .5rem .5rem 0; padding: .5rem 1rem; }
`;
const STYLE_DIGEST = createHash('sha256').update(STYLE).digest('base64');

function pageAnswer(payment: MockPayment, returnUrl: URL | undefined): PlainAnswer {
  const { merchantPaymentReference, referenceNumber, amount, currency, status } = payment;
  const isPaid = status === 'paid';
  const facts = {
    Order: merchantPaymentReference,
    Amount: `${amount} ${currency}`,
    Payment: referenceNumber,
    Status: status,
  };
  const buttons = isPaid
    ? [['leave', 'Back to the shop']]
    : [
        ['pay', 'Pay'],
        ['decline', 'Decline'],
        ['leave', 'Leave without paying'],
        ['pay-twice', 'Pay twice'],
      ];
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${escapeHtml(`Pay ${merchantPaymentReference}`)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${isPaid ? 'It is paid' : 'Pay'}</h1>
<p>This is the page of a mock. No money moves.</p>
<dl>
${Object.entries(facts)
  .map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`)
  .join('\n')}
</dl>
<form method="post">
<input type="hidden" name="returnUrl" value="${escapeHtml(returnUrl?.href ?? '')}">
${buttons.map(([name, text]) => `<button name="action" value="${name}">${text}</button>`).join('\n')}
</form>
<p>${
    returnUrl === undefined
      ? 'There is no returnUrl, so each button leads back to this page.'
      : `Each button leads to ${escapeHtml(returnUrl.href)}`
  }</p>
</main>
</body>
</html>
`;
  return textAnswer(200, html, {
    ...GUARD_HEADERS,
    'content-security-policy': createPolicy(returnUrl),
    'content-type': 'text/html; charset=utf-8',
    'cross-origin-opener-policy': 'same-origin',
    // Without a referrer a browser sends the form with the origin null, which is refused.
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
  });
}

/** Allows the page's style, and its form to end at the return URL: browsers hold a form's redirect to the policy. */
function createPolicy(returnUrl: URL | undefined): string {
  // A host may hold characters that end a directive.
  const origin = /^https?:\/\/[\w.:[\]-]+$/.exec(returnUrl?.origin ?? '')?.[0] ?? '';
  return [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_DIGEST}'`,
    'img-src data:',
    `form-action 'self' ${origin}`.trim(),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const escapeHtml = (text: string): string => markupText(text).replaceAll("'", '&#39;');
