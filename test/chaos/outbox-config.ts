/** Where the payments are stored. */
export type OutboxKind = 'postgres' | 'sqlite';

/** What a process of a shop is started with. */
export interface OutboxWorkerConfig {
  readonly outbox: OutboxKind;
  /** The server, or the file of SQLite. */
  readonly storeUrl: string;
  readonly service: {
    readonly baseUrl: string;
    readonly apiKey: string;
    readonly apiSecret: string;
  };
  readonly signingSecret: string;
}

/** Longer than a call takes; what a killed process leaves is unresolved after it. */
export const LEASE_MS = 2_000;
export const CALL_TIMEOUT_MS = 500;
export const RECOVER_EVERY_MS = 300;

export const orderOf = (reference: string) => ({
  merchantPaymentReference: reference,
  amount: 100,
  currency: 'EUR',
});
