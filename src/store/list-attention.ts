import {
  givenName,
  invalidOption,
  listOf,
  type OptionRules,
  oneOf,
  optional,
  resolveOptions,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import type { Attention, AttentionKind, AttentionOptions } from './attention.js';
import type { Lists } from './backend.js';
import { referenceOf } from './order-steps.js';
import type { Cursor, Listed, ListKind, Page, SecondRow } from './payment-row.js';
import { toStoredPayment } from './records.js';

const NO_CALLBACK_AFTER_MS = 3_600_000;

const KINDS = ['unresolved', 'second-payment', 'failed-change', 'no-callback'] as const;

const rules = {
  kinds: optional(listOf(oneOf(...KINDS), 'kinds')),
  olderThanMs: optional(wholeNumber({ unit: 'milliseconds' })),
  limit: withDefault(Number.POSITIVE_INFINITY, wholeNumber({ min: 1, unit: 'items' })),
  referenceNumber: optional(givenName),
} satisfies OptionRules<AttentionOptions>;

/** @throws {InvalidOptionError} synchronously, when an option is invalid */
export function listAttention(
  backend: Lists,
  lifetimeMs: number,
  options: AttentionOptions = {},
): AsyncIterable<Attention> {
  const { kinds, olderThanMs, limit, referenceNumber } = resolveOptions(options, rules);
  const wanted = kinds ?? (referenceNumber === undefined ? KINDS : (['failed-change'] as const));
  if (referenceNumber !== undefined && wanted.some((kind) => kind !== 'failed-change')) {
    throw invalidOption(
      'kinds',
      "left out, or ['failed-change'], if referenceNumber is given",
      kinds,
    );
  }
  const readers = readersOf(backend, referenceNumber && backend.forms.toName(referenceNumber));
  const lists = wanted.flatMap((kind) => {
    const ageMs = olderThanMs ?? (kind === 'no-callback' ? NO_CALLBACK_AFTER_MS : 0);
    // Before, whoever looks the payment up could find nothing although it is about to be created.
    const leastMs = kind === 'unresolved' ? Math.max(ageMs, lifetimeMs) : ageMs;
    return readers[kind].map((read) => ({ read, olderThanMs: leastMs }));
  });
  return inTurn(lists, limit);
}

interface Entry {
  readonly item: Attention;
  readonly place: Cursor;
}

type ReadList = (page: Page) => Promise<readonly Entry[]>;

/** The lists of each kind, in the order in which they are read. */
function readersOf(
  backend: Lists,
  referenceNumber: string | undefined,
): Readonly<Record<AttentionKind, readonly ReadList[]>> {
  const payments =
    (kind: AttentionKind, list: ListKind): ReadList =>
    async (page) =>
      (await backend.list(list, page)).map((listed) => toPayment(kind, listed));
  return {
    unresolved: [payments('unresolved', 'unresolved')],
    'second-payment': [async (page) => (await backend.listSecond(page)).map(toSecond)],
    'failed-change': [(page) => backend.listFailed(page, referenceNumber)],
    'no-callback': (['missed-paid', 'missed', 'unheard'] as const).map((list) =>
      payments('no-callback', list),
    ),
  };
}

function toSecond({ place, payment: json, listedAtMs }: SecondRow): Entry {
  const payment = JSON.parse(json);
  const { merchantPaymentReference, referenceNumber } = payment;
  const times = { since: new Date(place.atMs), listedAt: new Date(listedAtMs) };
  const item = { merchantPaymentReference, ...times, referenceNumber, payment };
  return { place, item: { kind: 'second-payment', ...item } };
}

function toPayment(kind: AttentionKind, { place, stored, listedAtMs }: Listed): Entry {
  const { foundStatus, attempts } = stored;
  const item = {
    kind,
    ...(foundStatus !== undefined && { foundStatus: JSON.parse(foundStatus) }),
    merchantPaymentReference: referenceOf(stored),
    since: new Date(place.atMs),
    listedAt: new Date(listedAtMs),
    attempts,
    stored: toStoredPayment(stored, { replayed: true }),
  };
  return { place, item: item as Attention };
}

async function* inTurn(
  lists: readonly { readonly read: ReadList; readonly olderThanMs: number }[],
  limit: number,
): AsyncGenerator<Attention> {
  let left = limit;
  for (const { read, olderThanMs } of lists) {
    for await (const page of pagesOf(read, olderThanMs, left)) {
      for (const { item } of page) yield item;
      left -= page.length;
    }
  }
}

export const PAGE_SIZE = 100;

/** Reads a list page by page, up to a number of entries. */
export async function* pagesOf<Entry extends { readonly place: Cursor }>(
  read: (page: Page) => Promise<readonly Entry[]>,
  olderThanMs = 0,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly Entry[]> {
  let after: Cursor | undefined;
  for (let left = limit; left > 0; ) {
    const size = Math.min(PAGE_SIZE, left);
    const page = await read({ olderThanMs, after, limit: size });
    yield page;
    if (page.length < size) return;
    left -= page.length;
    after = page.at(-1)?.place;
  }
}
