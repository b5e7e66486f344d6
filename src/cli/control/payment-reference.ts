import type { ControlPayment, ControlPaymentPage } from 'merchant-payments/mock-server';
import type { ControlClient } from './client.js';

const SHOWN_CANDIDATES = 10;

/**
 * The payment a word means: its reference number, the merchant's own reference, or the beginning of
 * exactly one reference number.
 *
 * @throws {Error} when there is none, or more than one
 */
export async function findPayment(client: ControlClient, word: string): Promise<ControlPayment> {
  const found = await search(client, word);
  const exact = found.find(({ referenceNumber }) => referenceNumber === word);
  if (exact !== undefined) return exact;
  const byReference = found.filter((payment) => payment.merchantPaymentReference === word);
  const candidates =
    byReference.length > 0
      ? byReference
      : found.filter(({ referenceNumber }) => referenceNumber.startsWith(word.toLowerCase()));
  const [payment, ...others] = candidates;
  if (payment === undefined) {
    throw new Error(`the mock has no payment "${word}"; see merchant-payments payments list`);
  }
  if (others.length === 0) return payment;
  const shown = candidates.slice(0, SHOWN_CANDIDATES).map(describe);
  const hidden = candidates.length - shown.length;
  if (hidden > 0) shown.push(`and ${hidden} more`);
  throw new Error(
    `"${word}" can mean ${candidates.length} payments, give the reference number of one: ${shown.join('; ')}`,
  );
}

function describe({ referenceNumber, merchantPaymentReference, status }: ControlPayment): string {
  return `${referenceNumber} (${merchantPaymentReference}, ${status})`;
}

async function search(client: ControlClient, word: string): Promise<ControlPayment[]> {
  const found: ControlPayment[] = [];
  let before: string | undefined;
  do {
    const page: ControlPaymentPage = await client.call({
      method: 'GET',
      path: ['payments'],
      query: { search: word, limit: 1_000, before },
    });
    found.push(...page.payments);
    before = page.next;
  } while (before !== undefined);
  return found;
}
