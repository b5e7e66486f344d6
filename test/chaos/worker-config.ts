/** Which inbox a receiver process uses. */
export type InboxKind = 'postgres' | 'redis' | 'memory';

/** What a receiver process is started with. */
export interface WorkerConfig {
  readonly inbox: InboxKind;
  readonly storeUrl: string;
  readonly signingSecret: string;
}

/** What a receiver process says: that it listens, or what `onError` was told. */
export type WorkerMessage = { readonly port: number } | { readonly error: string };
