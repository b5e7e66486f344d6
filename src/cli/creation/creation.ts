/** A payment that is to be created. */
export interface Creation {
  readonly merchantPaymentReference: string;
  readonly amount: number;
  readonly currency: string;
  /** Fields that the interface does not show. */
  readonly extra: Readonly<Record<string, unknown>>;
}
