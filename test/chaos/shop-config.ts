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

/** Where the front of the service tells whether it has a payment. */
export const LOOK_UP_PATH = '/look-up/';

export const orderOf = (reference: string) => ({
  merchantPaymentReference: reference,
  amount: 100,
  currency: 'EUR',
});

/** The status after which the shop's customers may try again. */
export const DECLINED = 'declined';

/** The order of a payment: the store names its further attempts `direct-7-2`, `direct-7-3` and so on. */
export function toOrder(reference: string): string {
  return reference.split('-').slice(0, 2).join('-');
}

/** Whether the shop stores an order and its payment in one transaction, and sends it then. It looks these up. */
export function isRecorded(reference: string): boolean {
  return reference.startsWith('recorded-');
}
