import type { Effect, Guarantee } from './history.js';

/** A database of the run's own, with the store and what the merchant's functions wrote. */
export interface Database {
  readonly url: string;
  /** What a store on it promises. */
  readonly guarantee: Guarantee;
  /** Whether a receiver can look up while it is down what was done before, and answer 200. */
  readonly isReadableWhileDown: boolean;
  /** Disturbs every connection for a moment. */
  cutConnections(): Promise<void>;
  /** Takes it away, as a crash of its server does. */
  crash(): Promise<void>;
  /** Gives it back, with what it had confirmed. */
  restart(): Promise<void>;
  /** What the merchant's functions wrote, in the order in which they did. */
  readEffects(): Promise<Effect[]>;
  /** The merchant's orders: the last status written, by the payment's reference. */
  readOrders(): Promise<Map<string, string>>;
  /** How often goods were shipped, by the payment's reference, where the merchant guards it by key. */
  readShipments?(): Promise<Map<string, number>>;
  stop(): Promise<void>;
}
