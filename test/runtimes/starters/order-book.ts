import type { VerifiedCallback } from 'merchant-payments/callback';

/** What the merchant's endpoint did, for the check that asks whether it did it once. */
export class OrderBook {
  readonly #effects = new Map<string, { effects: number; status: string }>();

  record({ payment: { referenceNumber, status } }: VerifiedCallback): void {
    const effects = (this.#effects.get(referenceNumber)?.effects ?? 0) + 1;
    this.#effects.set(referenceNumber, { effects, status });
  }

  answer(url: string): string {
    const reference = new URL(url, 'http://localhost').searchParams.get('referenceNumber') ?? '';
    return JSON.stringify(this.#effects.get(reference) ?? { effects: 0 });
  }
}
