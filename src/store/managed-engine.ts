import {
  date,
  givenName,
  invalidOption,
  listOf,
  type OptionRules,
  oneOf,
  optional,
  resolveOptions,
  wholeNumber,
} from '../protocol/options.js';
import { fieldOf, isObject, ownFields } from '../protocol/own-fields.js';
import type { Attention, AttentionKind, AttentionOptions } from './attention.js';
import type { CallbackTables, Lists } from './backend.js';
import type { ChangeResult, ManagedStore, StatusChange, StoreContext } from './callback-store.js';
import { readChange, toChangeName } from './change.js';
import { itemChanged } from './errors.js';
import type { Cursor, Listed, ListKind, Page, SecondRow } from './payment-row.js';
import { readBody, toStoredPayment } from './records.js';
import type { PaymentState, StoredPayment } from './stored-payment.js';

/** A store without a client, over any backend. */
export class ManagedEngine<Tx> implements ManagedStore<Tx> {
  readonly #backend: CallbackTables<Tx>;
  readonly #lifetimeMs: number;

  constructor(
    backend: CallbackTables<Tx>,
    { requestLifetimeMs }: { readonly requestLifetimeMs: number },
  ) {
    this.#backend = backend;
    this.#lifetimeMs = requestLifetimeMs;
  }

  async process(
    change: StatusChange,
    work: (context: StoreContext<Tx>) => Promise<void>,
  ): Promise<ChangeResult> {
    return this.#backend.process(readChange(change, this.#backend.forms), work);
  }

  attention(options?: AttentionOptions): AsyncIterable<Attention> {
    return listAttention(this.#backend, this.#lifetimeMs, options);
  }

  async discard(item: Attention): Promise<void> {
    const isChanged = await forget(this.#backend, item);
    if (isChanged) throw itemChanged();
  }

  async setup(): Promise<void> {
    return this.#backend.setup();
  }

  async prune(olderThan: Date): Promise<number> {
    return this.#backend.prune(date(olderThan, 'olderThan').getTime());
  }
}

/** Returns whether the item has changed since it was listed, and was kept. */
async function forget(backend: Lists, given: Attention): Promise<boolean> {
  const item = ownFields(given);
  const { forms } = backend;
  // A page may have sent back only a part of the item, and a decision about nothing would look like one that was made.
  const name = (field: string): string => givenName(fieldOf(item, field), `item.${field}`);
  switch (item.kind) {
    case 'failed-change': {
      const change = {
        merchantPaymentReference: name('merchantPaymentReference'),
        referenceNumber: name('referenceNumber'),
        key: name('key'),
      };
      const attempts = wholeNumber({ unit: 'attempts' })(item.attempts, 'item.attempts');
      return backend.forgetFailed(toChangeName(change, forms), attempts);
    }
    case 'second-payment': {
      const key = forms.toName(name('merchantPaymentReference'));
      if (!isObject(item.payment)) throw invalidOption('item.payment', 'an object', item.payment);
      const seen = JSON.stringify(item.payment);
      return backend.forgetSecond(
        key,
        forms.toName(name('referenceNumber')),
        (stored) => JSON.stringify(JSON.parse(stored)) === seen,
      );
    }
    case 'no-callback': {
      const attempts = wholeNumber({ unit: 'attempts' })(item.attempts, 'item.attempts');
      return backend.stopWaiting(forms.toName(name('merchantPaymentReference')), attempts);
    }
    default:
      throw invalidOption(
        'item',
        "an item of attention() of the kind 'second-payment', 'failed-change' or 'no-callback'",
        given,
        'for an unresolved payment, use markCreated() or markNotCreated()',
      );
  }
}

const PAGE_SIZE = 100;
const NO_CALLBACK_AFTER_MS = 3_600_000;

const KINDS = ['unresolved', 'second-payment', 'failed-change', 'no-callback'] as const;

const rules = {
  kinds: optional(listOf(oneOf(...KINDS), 'kinds')),
  olderThanMs: optional(wholeNumber({ unit: 'milliseconds' })),
  limit: optional(wholeNumber({ min: 1, unit: 'items' })),
  referenceNumber: optional(givenName),
} satisfies OptionRules<AttentionOptions>;

/**
 * @param lifetimeMs for how long after a claim the service may act on the request
 * @throws {InvalidOptionError} synchronously, when an option is invalid
 */
export function listAttention(
  backend: Lists,
  lifetimeMs: number,
  options: AttentionOptions = {},
): AsyncIterable<Attention> {
  const { kinds, olderThanMs, limit, referenceNumber } = resolveOptions(options, rules);
  const ofPayment = referenceNumber === undefined ? KINDS : (['failed-change'] as const);
  const wanted = kinds ?? ofPayment;
  if (referenceNumber !== undefined && wanted.some((kind) => kind !== 'failed-change')) {
    throw invalidOption(
      'kinds',
      "left out, or ['failed-change'], if referenceNumber is given",
      kinds,
    );
  }
  const lists = listsOf(backend, referenceNumber && backend.forms.toName(referenceNumber));
  const pages = wanted.flatMap((kind) => {
    const ageMs = olderThanMs ?? (kind === 'no-callback' ? NO_CALLBACK_AFTER_MS : 0);
    // Before, whoever looks the payment up could find nothing although it is about to be created.
    const leastMs = kind === 'unresolved' ? Math.max(ageMs, lifetimeMs) : ageMs;
    return lists[kind].map(
      (read): ReadPage =>
        (page) =>
          read({ ...page, olderThanMs: leastMs }),
    );
  });
  return inTurn(pages, limit ?? Number.POSITIVE_INFINITY);
}

interface Entry {
  readonly item: Attention;
  readonly place: Cursor;
}

type ReadPage = (page: Omit<Page, 'olderThanMs'>) => Promise<readonly Entry[]>;
type ReadOldPage = (page: Page) => Promise<readonly Entry[]>;

/** The lists of each kind, in the order in which they are read. */
function listsOf(
  backend: Lists,
  referenceNumber: string | undefined,
): Readonly<Record<AttentionKind, readonly ReadOldPage[]>> {
  const withoutCallback = (kind: ListKind) => async (page: Page) =>
    (await backend.list(kind, page)).map((listed): Entry => {
      const { foundStatus } = listed.stored;
      const found = foundStatus === undefined ? {} : { foundStatus: JSON.parse(foundStatus) };
      return {
        place: listed.place,
        item: { kind: 'no-callback', ...found, ...toItem<'created'>(listed) },
      };
    });
  return {
    unresolved: [
      async (page) =>
        (await backend.list('unresolved', page)).map((listed) => ({
          place: listed.place,
          item: { kind: 'unresolved', ...toItem<'unresolved'>(listed) },
        })),
    ],
    'second-payment': [async (page) => (await backend.listSecond(page)).map(toSecond)],
    'failed-change': [
      async (page) =>
        (await backend.listFailed(page, referenceNumber)).map(({ place, change }) => ({
          place,
          item: change,
        })),
    ],
    'no-callback': (['missed-paid', 'missed', 'unheard'] as const).map(withoutCallback),
  };
}

function toSecond({ place, payment: json, listedAtMs }: SecondRow): Entry {
  const payment = JSON.parse(json);
  const { merchantPaymentReference, referenceNumber } = payment;
  const times = { since: new Date(place.atMs), listedAt: new Date(listedAtMs) };
  const item = { merchantPaymentReference, ...times, referenceNumber, payment };
  return { place, item: { kind: 'second-payment', ...item } };
}

/** @typeParam State - the state of all payments of the list */
function toItem<State extends PaymentState>({ place, stored, listedAtMs }: Listed) {
  return {
    merchantPaymentReference: readBody(stored.body).input.merchantPaymentReference,
    since: new Date(place.atMs),
    listedAt: new Date(listedAtMs),
    attempts: stored.attempts,
    stored: toStoredPayment(stored, { replayed: true }) as StoredPayment & { state: State },
  };
}

async function* inTurn(lists: readonly ReadPage[], limit: number): AsyncGenerator<Attention> {
  let left = limit;
  for (const read of lists) {
    let after: Cursor | undefined;
    for (;;) {
      const size = Math.min(PAGE_SIZE, left);
      const page = size === 0 ? [] : await read({ after, limit: size });
      for (const { item } of page) yield item;
      left -= page.length;
      if (page.length < size || left === 0) break;
      after = page.at(-1)?.place;
    }
  }
}
