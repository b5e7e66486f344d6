import { randomUUID } from 'node:crypto';
import express, { type Request, type Response } from 'express';
import { MerchantPaymentsError } from 'merchant-payments';
import type { Attention, FailedChange } from 'merchant-payments/store';
import { handleCallback } from './callbacks.js';
import { store } from './database.js';

/** What a form sends: the item as it was listed, and what a person has decided. */
type Fields = Record<'token' | 'item' | 'referenceNumber' | 'confirmed', string> & {
  action: Action;
};

const actions = {
  'mark-created': ({ item, referenceNumber }: Fields) =>
    store.markCreated(JSON.parse(item).merchantPaymentReference, { referenceNumber }),
  'mark-not-created': ({ item }: Fields) => store.markNotCreated(JSON.parse(item)),
  async replay({ item }: Fields) {
    const change = JSON.parse(item);
    const { outcome } = await handleCallback.replay(change);
    if (/processed|duplicate/.test(outcome)) return undefined;
    return `The replay: ${outcome}. ${outcome === 'failed' ? await reasonOf(change) : ''}`;
  },
  discard: ({ item }: Fields) => store.discard(JSON.parse(item)),
};
type Action = keyof typeof actions;

/** A button's label, and what follows: nothing takes it back, so it is asked once more. */
type Buttons = Partial<Record<Action, [label: string, consequence: string]>>;

const notCreated: Buttons = {
  'mark-not-created': [
    'The service has no payment',
    'The customer may pay again. If the service has it after all, the order is paid twice.',
  ],
};
const LISTS: Record<Attention['kind'], [title: string, buttons: Buttons]> = {
  unresolved: [
    'Unresolved',
    {
      'mark-created': [
        'The service has this one',
        'The order waits for its callback, and nothing is sent again.',
      ],
      ...notCreated,
    },
  ],
  'second-payment': [
    'Second payments',
    { discard: ['Done', 'Unless one of the two was refunded, the customer has paid twice.'] },
  ],
  'failed-change': [
    'Failed changes',
    {
      replay: ['Replay', 'The callback is processed now. If it says paid, the order ships.'],
      discard: ['Done', 'The callback is deleted: nothing can replay it.'],
    },
  ],
  'no-callback': [
    'No callback',
    { discard: ['Done', 'Its callback is still processed, whenever it arrives.'], ...notCreated },
  ],
};

/** Mount it behind your own login, as in `app.use('/staff', onlyStaff, staff)`. */
export const staff = express.Router();
staff.use(express.urlencoded({ extended: false }));

staff.get('/', async (request, response) => {
  response.send(await lists(tokenFor(request, response)));
});

staff.post('/', async (request, response) => {
  const fields: Fields = request.body;
  const token = tokenFor(request, response);
  // The browser sends the login with forms of other sites too, but those do not know the token.
  if (fields?.token !== token || !Object.hasOwn(actions, fields.action)) {
    response.sendStatus(403);
  } else if (fields.confirmed !== 'yes') {
    response.send(question(fields));
  } else {
    const act = actions[fields.action];
    const problem = await act(fields).catch((error: unknown) => {
      // For example STATE_CHANGED: meanwhile a callback or a colleague has settled it.
      if (error instanceof MerchantPaymentsError) return error.message;
      throw error;
    });
    if (problem) response.status(409).send(await lists(token, problem));
    else response.redirect(303, request.baseUrl);
  }
});

/** Why a replay failed: the person who clicked may not see the log. */
async function reasonOf({ key, referenceNumber }: FailedChange): Promise<string> {
  for await (const item of store.attention({ kinds: ['failed-change'], referenceNumber })) {
    if (item.kind !== 'failed-change' || item.key !== key) continue;
    return item.rawBody ? item.error.message : 'Its body was pruned: repair the order by hand.';
  }
  return 'It is not kept any more: processed meanwhile, or discarded.';
}

/** The browser's own token, in a cookie and in each form. */
function tokenFor(request: Request, response: Response): string {
  const [, known] = /(?:^|; )staff=([\w-]{36})/.exec(request.headers.cookie ?? '') ?? [];
  if (known !== undefined) return known;
  const token = randomUUID();
  const { baseUrl: path, secure } = request;
  response.cookie('staff', token, { httpOnly: true, sameSite: 'strict', path, secure });
  return token;
}

async function lists(token: string, problem = ''): Promise<string> {
  const listed: { kind: string; html: Html }[] = [];
  for await (const item of store.attention({ limit: 500 })) {
    listed.push({ kind: item.kind, html: await card(item, token) });
  }
  const sections = Object.entries(LISTS).map(([kind, [title]]) => {
    const cards = listed.filter((one) => one.kind === kind).map((one) => one.html);
    return html`<section aria-label="${title}"><h2>${title}</h2>
      ${cards.length === 0 ? html`<p>None.</p>` : cards}</section>`;
  });
  return page(html`${problem && html`<p class="error" role="alert">${problem}</p>`}${sections}`);
}

async function card(item: Attention, token: string): Promise<Html> {
  const { kind, merchantPaymentReference: reference, since } = item;
  const [, buttons] = LISTS[kind];
  // As it was listed: a decision about what has changed since is refused.
  const listed = JSON.stringify({ ...item, rawBody: undefined });
  const number = html`<input name="referenceNumber" required pattern="[0-9a-fA-F\\-]{36}"
    placeholder="Reference number" aria-label="Reference number of ${reference}">`;
  return html`<article class="card"><h3>${reference}</h3>
    <p>${since.toISOString()}, ${await detailsOf(item)}</p>
    <form method="post">${hidden({ token, item: listed })}${kind === 'unresolved' && number}
      ${Object.entries(buttons).map(
        ([action, [label]]) => html`<button name="action" value="${action}"
          ${action !== 'mark-created' && html`formnovalidate`}>${label}</button>`,
      )}
    </form></article>`;
}

async function detailsOf(item: Attention): Promise<string> {
  switch (item.kind) {
    case 'unresolved':
      return item.stored.failure?.code ?? 'no answer';
    case 'second-payment':
      return `${item.referenceNumber}, ${item.payment.status ?? 'no callback'}; ${await followed(item)}`;
    case 'failed-change':
      return `${item.attempts} times, ${item.error.code ?? item.error.name}: ${item.error.message}`;
    case 'no-callback':
      return item.foundStatus ? `${item.foundStatus} at the service` : 'created';
  }
}

/** The other payment to look up: the one that the order follows. */
async function followed({ merchantPaymentReference: reference }: Attention): Promise<string> {
  const order = (await store.get(reference))?.order ?? reference;
  const stored = await store.getOrder(order);
  if (stored?.state !== 'created') return `${order} follows none`;
  return `${order} follows ${stored.payment?.referenceNumber}, ${stored.payment?.status}`;
}

/** Asks once more, in words, with all that the decision is based on. */
function question(fields: Fields): string {
  const { kind, merchantPaymentReference }: Attention = JSON.parse(fields.item);
  const [label, consequence] = LISTS[kind][1][fields.action] ?? [];
  return page(html`<article class="card"><h2>${merchantPaymentReference}: ${label}?</h2>
    <p>${fields.action === 'mark-created' && fields.referenceNumber} ${consequence}</p>
    <form method="post">${hidden({ ...fields, confirmed: 'yes' })}<button>Yes</button>
      <a href="">No, back to the lists</a></form></article>`);
}

const hidden = (fields: Record<string, string>) =>
  Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );

function page(content: unknown): string {
  return html`<!doctype html><html lang="en"><meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Payments for staff</title><link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/style.css">
    <main><h1>Payments for staff</h1>${content}</main></html>`.text;
}

class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Markup in which every value is text, but for other markup. */
function html(parts: TemplateStringsArray, ...values: readonly unknown[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(toMarkup)));
}

function toMarkup(value: unknown): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(toMarkup).join('');
  return String(value || '').replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
