/** Which inbox a receiver process uses. */
export type InboxKind = 'postgres' | 'mysql' | 'redis' | 'sqlite' | 'memory';

/** What a receiver process is started with. */
export interface WorkerConfig {
  readonly inbox: InboxKind;
  /** The server, or the file of SQLite. */
  readonly storeUrl: string;
  readonly signingSecret: string;
}
