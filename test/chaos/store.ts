import type { Effect, Guarantee } from './history.js';

/** A database server of the run's own, with the inbox and what the merchant's functions wrote. */
export interface Store {
  readonly url: string;
  /** What its inbox promises. */
  readonly guarantee: Guarantee;
  /** Ends every connection; the server goes on. */
  cutConnections(): Promise<void>;
  /** Ends the server as a crash does. */
  crash(): Promise<void>;
  /** Starts it again, with what it had confirmed. */
  restart(): Promise<void>;
  /** What the merchant's functions wrote, in the order in which they did. */
  readEffects(): Promise<Effect[]>;
  /** The merchant's orders: the last status written, by the payment's reference. */
  readOrders(): Promise<Map<string, string>>;
  stop(): Promise<void>;
}
