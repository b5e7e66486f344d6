import {
  type OptionRules,
  optional,
  resolveOptions,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import type {
  OutboxPayment,
  SecondPayment,
  SecondPaymentsOptions,
  UnresolvedOptions,
} from './outbox.js';
import { toOutboxPayment, toSecondPayment } from './records.js';
import type { Cursor, OutboxStore, StoredSecondPayment } from './store.js';

const PAGE_SIZE = 100;

const limitRule = optional(wholeNumber({ min: 1, unit: 'payments' }));

const unresolvedRules = {
  olderThanMs: withDefault(0, wholeNumber({ unit: 'milliseconds' })),
  limit: limitRule,
} satisfies OptionRules<UnresolvedOptions>;

/** @throws {InvalidOptionError} synchronously, when an option is invalid */
export function listUnresolved(
  store: OutboxStore<never>,
  options: UnresolvedOptions = {},
): AsyncIterable<OutboxPayment> {
  const { olderThanMs, limit } = resolveOptions(options, unresolvedRules);
  return inPages(limit, async (size, last: Cursor | undefined) => {
    const page = await store.listUnresolved({ olderThanMs, after: last, limit: size });
    return page.map(({ key, stored }) => ({
      item: toOutboxPayment(stored, { replayed: true }),
      place: { atMs: stored.sentAtMs ?? 0, key },
    }));
  });
}

/** @throws {InvalidOptionError} synchronously, when an option is invalid */
export function listSecondPayments(
  store: OutboxStore<never>,
  options: SecondPaymentsOptions = {},
): AsyncIterable<SecondPayment> {
  const { limit } = resolveOptions(options, { limit: limitRule });
  return inPages(limit, async (size, last: StoredSecondPayment | undefined) => {
    const page = await store.listSecondPayments({ after: last, limit: size });
    return page.map((stored) => ({ item: toSecondPayment(stored), place: stored }));
  });
}

interface Entry<Item, Place> {
  readonly item: Item;
  readonly place: Place;
}

async function* inPages<Item, Place>(
  limit = Number.POSITIVE_INFINITY,
  read: (size: number, last: Place | undefined) => Promise<readonly Entry<Item, Place>[]>,
): AsyncGenerator<Item> {
  let left = limit;
  let last: Place | undefined;
  for (;;) {
    const size = Math.min(PAGE_SIZE, left);
    const page = await read(size, last);
    for (const { item } of page) yield item;
    left -= page.length;
    last = page.at(-1)?.place;
    if (left === 0 || page.length < size) return;
  }
}
