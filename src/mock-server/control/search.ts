import type { RecordedRequest } from '../api/recorded-request.js';
import type { Delivery } from '../callbacks/delivery.js';
import type { MockPayment } from '../state/payments.js';

/** What a search looks at. A person who types `17` means `order-17`, not a UUID that has 17 in it. */
interface SearchTexts {
  readonly reference: string;
  readonly others: readonly string[];
  readonly ids: readonly string[];
}

export const textsOfPayment = (payment: MockPayment): SearchTexts => ({
  reference: payment.merchantPaymentReference,
  others: [payment.status],
  ids: [payment.referenceNumber, payment.providerReference],
});

export const textsOfCallback = ({ payment, status, state }: Delivery): SearchTexts => ({
  reference: payment.merchantPaymentReference,
  others: [status, state],
  ids: [payment.referenceNumber],
});

export const textsOfRequest = (request: RecordedRequest): SearchTexts => ({
  reference: request.merchantPaymentReference ?? '',
  others: [request.path, request.fault ?? '', String(request.answer?.status ?? '')],
  ids: [request.requestId, request.referenceNumber ?? ''],
});

/**
 * Returns what holds the text, in any case: the better it fits, the earlier, and otherwise in the order given. Without a
 * text, returns all.
 */
export function rank<Item>(
  items: readonly Item[],
  search: string,
  textsOf: (item: Item) => SearchTexts,
): Item[] {
  if (search === '') return [...items];
  const wanted = search.toLowerCase();
  const has = (text: string) => text.toLowerCase().includes(wanted);
  const rankOf = (item: Item): number => {
    const { reference, others, ids } = textsOf(item);
    const lower = reference.toLowerCase();
    if (lower === wanted || ids.some((id) => id.toLowerCase() === wanted)) return 0;
    if (lower.startsWith(wanted)) return 1;
    if (lower.includes(wanted)) return 2;
    if (others.some(has)) return 3;
    return ids.some(has) ? 4 : NOT_FOUND;
  };
  const ranks: Item[][] = [[], [], [], [], []];
  for (const item of items) ranks[rankOf(item)]?.push(item);
  return ranks.flat();
}

const NOT_FOUND = -1;
