import type { Status } from './scene.js';

/** What a scene may show because it is documented. */
export type Limit =
  /** The merchant's work is done twice. */
  | 'done twice'
  /** The work of two deliveries runs at a time. */
  | 'overlap'
  /** An order that follows `current` shows an older change. */
  | 'older shown'
  /** A failure is forgotten whose delivery was not acknowledged. */
  | 'failure lost';

/** How the instances of a shop process the callbacks of one order, and what may happen to them. */
export interface ProcessingScene {
  /** SQLite's lease, or a transaction of a database server. */
  readonly engine: 'lease' | 'transaction';
  /** The changes of each payment. */
  readonly payments: readonly (readonly Status[])[];
  /** How many instances each change is delivered to. @default 1 */
  readonly copies?: number;
  /** How often work may throw. */
  readonly failures?: number;
  /** After how many failures a change is parked; then a person replays it. */
  readonly parkAfter?: number;
  /** How often a process may die. */
  readonly crashes?: number;
  /** How often a process may stand still, for any time. */
  readonly stalls?: number;
  /** How often work may take longer than its lease is renewed. */
  readonly hangs?: number;
  /** Whether work goes on although its signal has aborted. */
  readonly isDeaf?: boolean;
  /** How often a connection may be lost. */
  readonly losses?: number;
  /** How often work may commit, or roll back, the transaction that it was given. */
  readonly endings?: number;
  readonly limits?: readonly Limit[];
  /** What is said when a limit shows itself; undefined if the scene must hold. */
  readonly mustFail?: RegExp;
  readonly isNightly?: boolean;
}
