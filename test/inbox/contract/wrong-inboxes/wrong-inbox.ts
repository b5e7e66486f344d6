import type { RightInbox } from '../right-inbox.js';

export interface WrongInbox {
  /** What it does that it should not. */
  readonly flaw: string;
  /** The case of the contract that must fail on it. */
  readonly caughtBy: string;
  /** What the failure says. */
  readonly says: RegExp;
  readonly inbox: typeof RightInbox;
  /** Only when deliveries wait does the flaw show. */
  readonly waits?: true;
}

/** What a case says of an answer that is given too early. */
export const HELD_OFF = /only 'busy' is known by then/;
