import type { Attention } from 'merchant-payments/store';
import { html } from './html.js';
import { readAttention, readUnpaid } from './lists.js';
import type { Fields, StaffAction } from './staff.js';

const KINDS: Record<Attention['kind'], [title: string, meaning: string]> = {
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
      const { input, failure } = item.stored;
      const amount = input && `${(input.amount / 100).toFixed(2)} ${input.currency}, `; // in cents, as in main.ts
      const actions = html`
        ${notCreated(item)}
        <form method="post" action="/staff/confirm/mark-created">
          ${hidden({ reference })}
          <input name="referenceNumber" placeholder="Reference number" aria-label="Reference number of ${reference}" pattern="[0-9a-fA-F\\-]{36}" title="The UUID that the service shows" required>
          <button type="submit">The service has this one</button>
        </form>`;
      return card(reference, `${amount ?? ''}${failure?.code ?? 'no answer'}`, since, actions);
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
        ${button('replay', { reference, key, referenceNumber }, 'Replay')}
        ${discard({ ...item, rawBody: undefined }, 'Discard')}`;
      const details = `${key}, attempts: ${attempts}, ${error.code ?? error.name}: ${error.message}`;
      return card(reference, details, since, actions);
    }
    case 'no-callback': {
      const details = item.foundStatus ? `${item.foundStatus} at the service` : 'created';
      return card(reference, details, since, html`${discard(item, 'Done')}${notCreated(item)}`);
    }
  }
}

function card(reference: string, details: string, since: Date, actions?: unknown) {
  return html`<article class="card">
    <h3>${reference}</h3>
    <p class="faint">${ago(since)}: ${details}</p>
    <div class="actions">${actions}</div>
  </article>`;
}

/** As the list showed it: the decision is refused if the payment has changed since, or was listed too early. */
function notCreated(item: Attention) {
  const { merchantPaymentReference: reference } = item;
  const fields = { reference, item: JSON.stringify(item) };
  return button('mark-not-created', fields, 'The service has no payment');
}

/** With all that the decision is based on: it is refused if the item has changed since. */
function discard(item: Attention, label: string) {
  return button('discard', { item: JSON.stringify(item) }, label);
}

/** A question, what follows from a yes, and the label of the yes. */
type Question = (fields: Fields) => [question: string, consequence: string, yes: string];

/** What each button asks before it acts, since nothing takes its action back. */
const QUESTIONS: Record<StaffAction, Question> = {
  'mark-not-created': ({ reference }) => [
    `The service has no payment for ${reference}?`,
    'The customer may then pay again. If the service does have the payment after all, the order is paid twice.',
    'Yes, it has none',
  ],
  'mark-created': ({ reference, referenceNumber }) => [
    `The service has payment ${referenceNumber} for ${reference}?`,
    'The order then waits for the callback of this payment, and nothing is sent again. With a wrong number, the real payment is listed as a second one.',
    'Yes, it has this one',
  ],
  replay: ({ reference }) => [
    `Process the callback for ${reference} again?`,
    'The shop acts as if it arrived now. If the callback says that the order is paid, the order ships.',
    'Yes, replay it',
  ],
  discard: ({ item }) => {
    const { kind, merchantPaymentReference } = JSON.parse(item) as Attention;
    return [
      `Take ${merchantPaymentReference} off the list?`,
      DISCARDED[kind],
      'Yes, it is dealt with',
    ];
  },
};

const DISCARDED: Record<Attention['kind'], string> = {
  unresolved: 'An unresolved payment cannot be taken off: say whether the service has it.',
  'second-payment':
    'Nothing lists this payment again. If both are paid and none was refunded, the customer has paid twice.',
  'failed-change':
    'The callback is deleted, and nothing can replay it. Unless somebody has repaired the order by hand, it never ships.',
  'no-callback':
    'Nothing lists this payment again. Its callback is still processed, whenever it arrives.',
};

/** Asks once more, in words, with all that the decision is based on. */
export function confirmationPage(action: StaffAction, fields: Fields): string {
  const [question, consequence, yes] = QUESTIONS[action](fields);
  return page(html`<article class="card">
    <h2>${question}</h2>
    <p>${consequence}</p>
    <div class="actions">
      ${form(`/staff/${action}`, fields, yes)}
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

function button(action: StaffAction, fields: Record<string, unknown>, label: string) {
  return form(`/staff/confirm/${action}`, fields, label);
}

function form(action: string, fields: Record<string, unknown>, label: string) {
  return html`<form method="post" action="${action}">${hidden(fields)}<button type="submit">${label}</button></form>`;
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
