/** Where a shop keeps its orders and its payments. */
export type ShopKind = 'postgres' | 'mysql' | 'sqlite';

/** What a process of a shop is started with. */
export interface ShopConfig {
  readonly kind: ShopKind;
  /** The server, or the file of SQLite. */
  readonly storeUrl: string;
  readonly service: {
    readonly baseUrl: string;
    readonly apiKey: string;
    readonly apiSecret: string;
  };
  readonly signingSecret: string;
}

/** Within a lease: what a killed process leaves is unresolved after that. */
export const CALL_TIMEOUT_MS = 500;
export const RECOVER_EVERY_MS = 300;

export const orderOf = (reference: string) => ({
  merchantPaymentReference: reference,
  amount: 100,
  currency: 'EUR',
});

/** Whether the shop stores an order and its payment in one transaction, and sends it then. */
export function isRecorded(reference: string): boolean {
  return reference.startsWith('recorded-');
}
