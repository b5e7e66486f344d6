import type { Stage } from './stage.js';

/** What not every store can do. */
export type Need = 'loseClaim' | 'concurrent' | 'leaseMs' | 'waitMs';

/** A case before it has a store. */
export interface ContractCase {
  readonly name: string;
  readonly needs?: Need;
  readonly run: (stage: Stage) => Promise<void>;
}
