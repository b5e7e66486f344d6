/** Which store a receiver process uses. */
export type StoreKind = 'postgres' | 'mysql' | 'redis' | 'sqlite' | 'memory';

/** What a receiver process is started with. */
export interface WorkerConfig {
  readonly kind: StoreKind;
  /** The server, or the file of SQLite. */
  readonly storeUrl: string;
  readonly signingSecret: string;
}
