import { InvalidOptionError } from '../../errors.js';
import { httpUrl } from '../../protocol/url.js';
import type { PlainAnswer, PlainRequest } from '../api/http-messages.js';
import { ControlFailure, GUARD_HEADERS, matchPath } from '../control/control-call.js';
import type { MockService } from '../mock-service.js';
import type { MockPayment, PaymentBook } from '../state/payments.js';
import { errorPage, escapeHtml, htmlPage } from './html-page.js';

interface PayingService extends Pick<MockService, 'pay' | 'setStatus'> {
  readonly payments: PaymentBook;
}

interface Action {
  /** On the button. */
  readonly text: string;
  readonly act: (service: PayingService, payment: MockPayment) => unknown;
  /** On the page that follows. */
  readonly done: string;
}

/** The interface names `paid` alone. */
const DECLINED = 'declined';

/** What the page offers, `pay` to the customer and the others to tests. Works without a script. */
const actions: Readonly<Record<string, Action>> = {
  pay: {
    text: 'Pay',
    act: (service, payment) => service.pay(payment),
    done: 'Thank you, it is paid',
  },
  decline: {
    text: 'Decline',
    act: (service, payment) => service.setStatus(payment, DECLINED),
    done: 'The payment was declined',
  },
  leave: { text: 'Leave without paying', act: () => undefined, done: 'Nothing was paid' },
  'pay-twice': { text: 'Pay twice', act: payTwice, done: 'It is paid twice, by two payments' },
};

/** As a customer does who pays in two tabs: a shop that sends a second creation gets a second payment. */
async function payTwice(service: PayingService, payment: MockPayment) {
  const { merchantPaymentReference, amount, currency, extra } = payment;
  await service.pay(payment);
  await service.pay(
    service.payments.create({ ...extra, merchantPaymentReference, amount, currency }),
  );
}

/**
 * The page on which a person pays, in place of the page that the real service may have: the interface shows none.
 *
 * @throws {ControlFailure} for another method or action
 */
export async function answerPaymentPage(
  request: PlainRequest,
  service: PayingService,
): Promise<PlainAnswer> {
  try {
    const payment = service.payments.get(matchPath('/_mock/pay/:id', request.path) ?? '');
    if (payment !== undefined) return await answerFor(payment, request, service);
    const text = 'There is no payment with this number. The mock may have been reset or restarted.';
    return errorPage(404, 'This link leads to no payment', text);
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error;
    return errorPage(400, 'This link can not be used', `${error.message}.`);
  }
}

/** @throws {InvalidOptionError} when `returnUrl` is no http or https address */
async function answerFor(
  payment: MockPayment,
  request: PlainRequest,
  service: PayingService,
): Promise<PlainAnswer> {
  const { method, target, path } = request;
  if (method === 'GET') {
    const query = new URLSearchParams(target.slice(path.length));
    const returnUrl = findReturnUrl(payment, query);
    const done = actionOf(query.get('done'));
    return done || payment.status === 'paid'
      ? endPage(payment, done ?? actions['pay'], returnUrl)
      : payPage(payment, returnUrl);
  }
  if (method !== 'POST') {
    const headers = { allow: 'GET, POST' };
    throw new ControlFailure('METHOD_NOT_ALLOWED', 'The method must be GET or POST', { headers });
  }
  const body = await request.readBody();
  const form = new URLSearchParams(body && Buffer.from(body).toString());
  const returnUrl = findReturnUrl(payment, form);
  const name = form.get('action');
  const action = actionOf(name);
  if (action === undefined) {
    const message = `action must be one of ${Object.keys(actions).join(', ')}`;
    throw new ControlFailure('INVALID_REQUEST', message, { option: 'action' });
  }
  // Settles with the first attempt of the callback, unless a fault delays that: then the customer is back first.
  // A button that is pressed twice pays once.
  const isPaid = service.payments.get(payment)?.status === 'paid';
  if (!isPaid) await action.act(service, payment);
  const location = returnUrl?.href ?? `${path}?done=${isPaid ? 'pay' : name}`;
  return { status: 303, headers: { ...GUARD_HEADERS, location }, body: '' };
}

const actionOf = (name: string | null): Action | undefined =>
  name !== null && Object.hasOwn(actions, name) ? actions[name] : undefined;

/** The address in the query or the form, otherwise that of the creation, if it has one. */
function findReturnUrl({ extra }: MockPayment, given: URLSearchParams): URL | undefined {
  const asked = given.get('returnUrl');
  if (asked) return httpUrl(asked, 'returnUrl');
  try {
    return httpUrl(extra['returnUrl'], 'returnUrl');
  } catch {
    return undefined;
  }
}

const buttonOf = (name: string, attributes = ''): string =>
  `<button name="action" value="${name}"${attributes}>${actions[name]?.text}</button>`;

function payPage(payment: MockPayment, returnUrl: URL | undefined): PlainAnswer {
  const { merchantPaymentReference, status } = payment;
  const others = Object.keys(actions).filter((name) => name !== 'pay');
  const leads = returnUrl && `Each button leads back to ${returnUrl.origin}.`;
  return htmlPage({
    title: `Pay ${merchantPaymentReference}`,
    formTarget: returnUrl,
    body: `<main>
<h1>You pay</h1>
${amountOf(payment)}
${factsOf(payment)}
${status === DECLINED ? '<p class="bad" role="status">The last try was declined.</p>' : ''}
<form method="post" id="pay">
<input type="hidden" name="returnUrl" value="${escapeHtml(returnUrl?.href ?? '')}">
${buttonOf('pay', ' class="primary"')}
</form>
</main>
<section class="tests" aria-labelledby="tests">
<h2 id="tests">For tests</h2>
<div>${others.map((name) => buttonOf(name, ' form="pay"')).join('\n')}</div>
<p>This is the page of a mock: no money moves. ${escapeHtml(leads ?? '')}</p>
<p>Payment <span class="number">${escapeHtml(payment.referenceNumber)}</span></p>
</section>`,
  });
}

/** After a button, and for a payment that is paid already. */
function endPage(
  payment: MockPayment,
  { done = '' }: Partial<Action> = {},
  returnUrl: URL | undefined,
): PlainAnswer {
  const isPaid = payment.status === 'paid';
  const back =
    returnUrl &&
    `<a class="button primary" href="${escapeHtml(returnUrl.href)}">Back to the shop</a>`;
  const again = '<a class="button" href="?">Back to the payment</a>';
  return htmlPage({
    title: `${done}: ${payment.merchantPaymentReference}`,
    body: `<main>
<div class="mark ${isPaid ? 'good' : 'bad'}" aria-hidden="true">${isPaid ? '✓' : '✕'}</div>
<h1 role="status">${done}</h1>
${amountOf(payment)}
${factsOf(payment)}
${back ?? (isPaid ? '<p class="muted">You can close this page.</p>' : again)}
</main>
<section class="tests"><p>This is the page of a mock: no money moved.</p>
<p>Payment <span class="number">${escapeHtml(payment.referenceNumber)}</span></p></section>`,
  });
}

const amountOf = ({ amount, currency }: MockPayment): string =>
  `<p class="amount">${amount} <small>${escapeHtml(currency)}</small></p>`;

const factsOf = ({ merchantPaymentReference, status }: MockPayment): string =>
  `<dl>
<dt>Order</dt><dd>${escapeHtml(merchantPaymentReference)}</dd>
<dt>Status</dt><dd>${escapeHtml(status)}</dd>
</dl>`;
