import type { VerifiedCallback } from 'merchant-payments/callback';

/** What the merchant's endpoint did, for the check that asks whether it did it once. */
export class OrderBook {
  readonly #effects = new Map<string, { effects: number; status: string }>();

  record({ payment }: VerifiedCallback, current: boolean): void {
    const { referenceNumber } = payment;
    const known = this.#effects.get(referenceNumber);
    const status = current || known === undefined ? payment.status : known.status;
    const shipped = payment.status === 'paid' ? 1 : 0;
    this.#effects.set(referenceNumber, { effects: (known?.effects ?? 0) + shipped, status });
  }

  answer(url: string): string {
    const reference = new URL(url, 'http://localhost').searchParams.get('referenceNumber') ?? '';
    return JSON.stringify(this.#effects.get(reference) ?? { effects: 0 });
  }
}
