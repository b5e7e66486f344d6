/** What callbacks have told of an order's payments, whatever the store remembers of it. */
export class OrderLedger {
  /** How many changes of each payment were told. */
  readonly told: Record<string, number[]> = {};
  /** The payments that were told to be declined, and to be paid. */
  readonly declined = new JsonSet();
  readonly paid = new JsonSet();
  /** Those of which the work has completed as the first payment of the order. */
  readonly fulfilled = new JsonSet();
  firstPaid: string | undefined;
  /** The change whose work is running. */
  working: string | undefined;

  get isDeclined(): boolean {
    return this.declined.size > 0;
  }

  /** No change of a payment overtakes an earlier one. */
  mayArrive(number: string, at: number): boolean {
    return at === 0 || this.told[number]?.includes(at - 1) === true;
  }

  tell(number: string, { status, at }: { readonly status: string; readonly at: number }): void {
    this.told[number] ??= [];
    if (!this.told[number].includes(at)) this.told[number].push(at);
    if (status === 'declined') this.declined.add(number);
    if (status !== 'paid') return;
    this.paid.add(number);
    this.firstPaid ??= number;
  }
}

class JsonSet extends Set<string> {
  toJSON(): readonly string[] {
    return [...this].sort();
  }
}
