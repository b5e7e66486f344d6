import { fuzzVerifiers } from './callback/verifiers.js';
import { fuzzCalls } from './client.js';
import type { FuzzOptions, FuzzResult } from './property-runs.js';

/** Something that is fuzzed, and how long. */
export interface FuzzTarget {
  readonly name: string;
  /** How many in a full run, and how many in the ordinary tests. */
  readonly cases: number;
  readonly quickCases: number;
  readonly needsPython: boolean;
  run(options: FuzzOptions): Promise<FuzzResult>;
}

export const targets: readonly FuzzTarget[] = [
  {
    name: 'verifiers: callbacks to node:crypto, WebCrypto and the receiver, against Python',
    cases: 400_000,
    quickCases: 2_000,
    needsPython: true,
    run: fuzzVerifiers,
  },
  {
    name: 'client: calls answered with bytes',
    cases: 30_000,
    quickCases: 300,
    needsPython: false,
    run: fuzzCalls,
  },
];
