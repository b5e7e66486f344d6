import type { Attention, AttentionKind } from 'merchant-payments/store';
import { html } from './html.js';
import { readAttention, readUnpaid } from './lists.js';

const KINDS: Record<AttentionKind, [title: string, meaning: string]> = {
  unresolved: [
    'Unresolved',
    'It is not known whether the service has these payments. Look them up there.',
  ],
  'second-payment': [
    'Second payments',
    'Look both payments up at the service. If both are paid, refund the one that is not the order’s reference_number.',
  ],
  'failed-change': [
    'Failed changes',
    'The shop could not process these callbacks. Remove the cause, then replay.',
  ],
  'no-callback': [
    'No callback',
    'Nothing was heard of these payments since they were created. Look them up at the service.',
  ],
};

/** What needs a person, with buttons. docs/when-something-needs-a-person.md says what to do. */
export async function staffPage(problem = ''): Promise<string> {
  const items = await readAttention();
  const unpaid = await readUnpaid();
  const lists = Object.entries(KINDS).map(([kind, [title, meaning]]) =>
    list(title, meaning, items.filter((item) => item.kind === kind).map(toCard)),
  );
  return page(html`
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${lists}
    ${list(
      'Not paid within a day',
      'Abandoned, or a callback is lost. Mostly they were abandoned.',
      unpaid.map(({ reference, status, since }) => card(reference, status ?? 'no callback', since)),
    )}
  `);
}

function toCard(item: Attention) {
  const { merchantPaymentReference: reference, since } = item;
  switch (item.kind) {
    case 'unresolved': {
      const { attempts, stored } = item;
      const { input, failure } = stored;
      const amount = `${(input.amount / 100).toFixed(2)} ${input.currency}`; // in cents, as in main.ts
      const actions = html`
        ${button('confirm-not-created', { reference, attempts }, 'The service has no payment')}
        <form method="post" action="/staff/resolve-created">
          ${hidden({ reference, attempts })}
          <input name="referenceNumber" placeholder="Reference number" aria-label="Reference number of ${reference}" pattern="[0-9a-fA-F\\-]{36}" title="The UUID that the service shows" required>
          <button type="submit">The service has this one</button>
        </form>`;
      return card(reference, `${amount}, ${failure?.code ?? 'no answer'}`, since, actions);
    }
    case 'second-payment':
      return card(
        reference,
        `${item.referenceNumber}, ${item.payment.status ?? 'no callback'}`,
        since,
        discard(item, 'Done'),
      );
    case 'failed-change': {
      const { key, referenceNumber, attempts, error } = item;
      const actions = html`
        ${button('replay', { key, referenceNumber }, 'Replay')}
        ${discard({ ...item, rawBody: undefined }, 'Discard')}`;
      const details = `${key}, attempts: ${attempts}, ${error.code ?? error.name}: ${error.message}`;
      return card(reference, details, since, actions);
    }
    case 'no-callback':
      return card(reference, 'created', since, discard(item, 'Done'));
  }
}

function card(reference: string, details: string, since: Date, actions?: unknown) {
  return html`<article class="card">
    <h3>${reference}</h3>
    <p class="faint">${ago(since)}: ${details}</p>
    <div class="actions">${actions}</div>
  </article>`;
}

/** With all that the decision is based on: it is refused if the item has changed since. */
function discard(item: Attention, label: string) {
  return button('discard', { item: JSON.stringify(item) }, label);
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

function list(title: string, meaning: string, cards: readonly unknown[]) {
  return html`<section aria-label="${title}">
    <h2>${title}</h2>
    <p class="faint">${cards.length === 0 ? 'None.' : meaning}</p>
    ${cards}
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

function ago(instant: Date): string {
  const minutes = Math.round((Date.now() - instant.getTime()) / 60_000);
  return minutes < 120 ? `${minutes} min ago` : `${Math.round(minutes / 60)} h ago`;
}
