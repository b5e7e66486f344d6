/** A status that the service tells of. */
export interface Status {
  readonly status: string;
  /** Its `updatedAt`, in seconds. */
  readonly at: number;
}

export type Act = 'creates' | 'refuses' | 'is busy';

/** Who acts on one order, and what may happen to them. */
export interface Scene {
  /** Customers, by the bodies that they send one after another. */
  readonly clicks?: readonly string[];
  /** Whether a `record` in the merchant's transaction comes too, and `send` after it. */
  readonly records?: boolean;
  /** What the order's first attempt has become before anybody comes. Then, the customer may try again after a decline. */
  readonly begins?: 'created' | 'declined';
  /** Whether the customer may try again after a decline. @default whether the scene `begins` with an attempt */
  readonly triesAgain?: boolean;
  /** How the merchant replaces the first attempt by one under a reference of its own. */
  readonly replaces?: 'create' | 'record';
  /** How often it does. @default 1 */
  readonly merchants?: number;
  /** What the service may do with a request. @default it creates the payment */
  readonly acts?: readonly Act[];
  /** What the answer may be besides the payment's record, or nothing. */
  readonly answers?: readonly ('page' | 'false success' | 'false record' | 'bare' | 'conflict')[];
  /** How often `recover` runs. */
  readonly recovers?: number;
  /** In how many processes it does. @default 1 */
  readonly recoverers?: number;
  /** Whether it looks payments up, and whether it then sees their status. */
  readonly looksUp?: 'number' | 'status';
  /** Whether it may find out nothing. */
  readonly looksInVain?: boolean;
  readonly people?: number;
  /** Whether people decide by an item that they have made themselves, without the list. */
  readonly handmade?: boolean;
  /** Whether people may stop waiting for a callback without a look at the service. */
  readonly hasty?: boolean;
  /** The changes of each payment that are delivered. */
  readonly changes?: readonly Status[];
  /** Those of each payment that the store has sent, if they differ; the last ones also of all that follow. */
  readonly ownChanges?: readonly (readonly Status[])[];
  /** Those of each payment of another program, if they differ. */
  readonly foreignChanges?: readonly (readonly Status[])[];
  /** Whether no change of a payment overtakes an earlier one. */
  readonly isInOrder?: boolean;
  /** How often work may throw. */
  readonly failures?: number;
  /** After how many failures a change is parked. */
  readonly parkAfter?: number;
  /** Whether callbacks come while another is being processed. */
  readonly overlaps?: boolean;
  /** Payments of the order that another program creates. */
  readonly foreign?: number;
  readonly prunes?: number;
  /** Whether `prune` forgets what is younger than a click. */
  readonly prunesYoung?: boolean;
  readonly crashes?: number;
  /** Actors that may die. @default customers and recover */
  readonly mortal?: RegExp;
  /** Whether a process may stand still between its claim and the socket, within the request's lifetime. */
  readonly stalls?: boolean;
  /** How many answers of claims take longer than their lease. */
  readonly slowClaims?: number;
  /** Whether the service may act on a request later than its lifetime. */
  readonly late?: boolean;
  /** Whether the client has `idempotency`, and whether the service recognises repetitions as it has promised. */
  readonly idempotency?: 'kept' | 'broken';
}

export interface ScenePlan extends Scene {
  /** What is said when an assumption does not hold; undefined if the scene must hold. */
  readonly mustFail?: RegExp;
  /** Whether it takes too long for each commit. */
  readonly isNightly?: boolean;
}

/** Scenes that have something in common. */
export const scenesWith = (common: ScenePlan, scenes: Readonly<Record<string, ScenePlan>>) =>
  Object.fromEntries(
    Object.entries(scenes).map(([name, scene]) => [name, { ...common, ...scene }]),
  );

/** How long a process may take to send, by the options of the store. */
export const LEASE_MS = 1_000;
/** For how long after a claim the service may act on the request. */
export const LIFETIME_MS = 2_000;
/** What is older is never clicked, delivered or retried again. */
export const OLD_MS = 3_000;
