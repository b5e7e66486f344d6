import { html } from './html.js';
import { readLists } from './lists.js';

/** What needs a person, with buttons. docs/on-call.md says what to do. */
export async function staffPage(problem = ''): Promise<string> {
  const lists = await readLists();
  const unresolved = lists.unresolved.map((payment) => {
    const { merchantPaymentReference: reference, input, sentAt, failure, attempts } = payment;
    return html`<article class="card">
      <h3>${reference}</h3>
      <p class="faint">${(input.amount / 100).toFixed(2)} ${input.currency}, sent ${ago(sentAt)}, ${failure?.code ?? 'no answer'}</p>
      <div class="actions">
        ${button('confirm-not-created', { reference, attempts }, 'The service has no payment')}
        <form method="post" action="/staff/resolve-created">
          ${hidden({ reference, attempts })}
          <input name="referenceNumber" placeholder="Reference number" aria-label="Reference number of ${reference}" required>
          <button type="submit">The service has this one</button>
        </form>
      </div>
    </article>`;
  });
  const second = lists.secondPayments.map((payment) => {
    const { merchantPaymentReference: reference, referenceNumber, foundAt } = payment;
    return html`<article class="card">
      <h3>${reference}</h3>
      <p class="faint">${referenceNumber}, ${payment.payment.status}, found ${ago(foundAt)}</p>
    </article>`;
  });
  const failed = lists.failedChanges.map((change) => {
    const { key, paymentReference, attempts, lastFailedAt, error } = change;
    const id = { key, paymentReference };
    return html`<article class="card">
      <h3>${key}</h3>
      <p class="faint">attempts: ${attempts}, last ${ago(lastFailedAt)}</p>
      <p class="error">${error.code ?? error.name}: ${error.message}</p>
      <div class="actions">${button('replay', id, 'Replay')} ${button('discard', id, 'Discard')}</div>
    </article>`;
  });
  const waiting = lists.waiting.map(
    (order) => html`<article class="card">
      <h3>${order.reference}</h3>
      <p class="faint">${order.status ?? 'no callback yet'}, ordered ${ago(order.orderedAt)}</p>
    </article>`,
  );
  return page(html`
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${list('Unresolved', 'It is not known whether the service has these payments. Look them up there.', unresolved)}
    ${list('Second payments', 'Look both payments up at the service. If both are paid, refund the one that is not the order’s paid_by.', second)}
    ${list('Failed changes', 'The shop could not process these callbacks. Remove the cause, then replay.', failed)}
    ${list('Waiting for more than a day', 'Not paid, or the callback is lost. Mostly they were not paid.', waiting)}
  `);
}

/** Asks once more, in words, before a payment counts as not created. */
export function confirmationPage({ reference, attempts }: Record<string, string>): string {
  return page(html`<article class="card">
    <h2>The service has no payment for ${reference}?</h2>
    <p>The customer may then pay again. If the service does have the payment after all, the order is paid twice.</p>
    <div class="actions">
      ${button('resolve-not-created', { reference, attempts }, 'Yes, it has none')}
      <a href="/staff">No, back to the lists</a>
    </div>
  </article>`);
}

function page(content: unknown): string {
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Payments for staff</title>
  <link rel="icon" href="/icon.svg">
  <link rel="stylesheet" href="/style.css">
</head>
<body>
  <header>The tea shop</header>
  <main>
    <h1>Payments for staff</h1>
    ${content}
  </main>
</body>
</html>`.text;
}

function list(title: string, meaning: string, rows: readonly unknown[]) {
  return html`<section aria-label="${title}">
    <h2>${title}</h2>
    <p class="faint">${rows.length === 0 ? 'None.' : meaning}</p>
    ${rows}
  </section>`;
}

function button(action: string, fields: Record<string, unknown>, label: string) {
  return html`<form method="post" action="/staff/${action}">${hidden(fields)}<button type="submit">${label}</button></form>`;
}

function hidden(fields: Record<string, unknown>) {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
}

function ago(instant: Date | undefined): string {
  if (instant === undefined) return '';
  const minutes = Math.round((Date.now() - instant.getTime()) / 60_000);
  return minutes < 120 ? `${minutes} min ago` : `${Math.round(minutes / 60)} h ago`;
}
