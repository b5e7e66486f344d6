import { invalidOption } from '../../protocol/options.js';

/**
 * A payment, by its referenceNumber, by its merchantPaymentReference if no other payment has the same, or as an object
 * with one of the two. The referenceNumber counts if there are both.
 */
export type PaymentOrReference =
  | string
  | {
      /** The service's reference. */
      readonly referenceNumber?: string | undefined;
      /** The merchant's own reference. */
      readonly merchantPaymentReference?: string | undefined;
    };

/** @throws {InvalidOptionError} for anything but text, or an object with a reference */
export function toReference(payment: PaymentOrReference): string {
  const reference =
    typeof payment === 'string'
      ? payment
      : (payment?.referenceNumber ?? payment?.merchantPaymentReference);
  if (typeof reference === 'string') return reference;
  throw invalidOption(
    'referenceNumber',
    'a referenceNumber, a merchantPaymentReference, or a payment with one of the two',
    payment,
  );
}
