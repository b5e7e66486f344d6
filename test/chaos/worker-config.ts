/** Which inbox a receiver process uses. */
export type InboxKind = 'postgres' | 'redis' | 'memory';

/** What a receiver process is started with. */
export interface WorkerConfig {
  readonly inbox: InboxKind;
  readonly storeUrl: string;
  readonly signingSecret: string;
}

/** What a receiver process says: that it listens, what `onError` was told, or what is wrong. */
export type WorkerMessage =
  | { readonly port: number }
  | { readonly error: string }
  | { readonly mistake: string };
