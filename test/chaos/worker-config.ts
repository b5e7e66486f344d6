/** Where a receiver process keeps what it processed: all in one Redis, or, to be found out, each in its own memory. */
export type StoreKind = 'redis' | 'memory';

/** What a receiver process is started with. */
export interface WorkerConfig {
  readonly kind: StoreKind;
  /** The server. */
  readonly storeUrl: string;
  readonly signingSecret: string;
}
