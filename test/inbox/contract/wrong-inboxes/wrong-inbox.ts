import type { RightInbox } from '../right-inbox.js';

export interface WrongInbox {
  /** What it does that it should not. */
  readonly flaw: string;
  /** The case of the contract that must fail on it. */
  readonly caughtBy: string;
  /** What the failure says. */
  readonly says: RegExp;
  readonly inbox: typeof RightInbox;
  /** How long deliveries wait, in milliseconds. @default 0 */
  readonly waitMs?: number;
}

/** What a case says of an answer that is given too early. */
export const HELD_OFF = /until then, only 'busy' is right/;

/** How long a claim lives that is never renewed, in milliseconds. */
export const LEASE_MS = 20;
