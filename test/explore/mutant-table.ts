import { changeMutants } from './change-mutants.js';
import { orderMutants } from './order-mutants.js';
import { paymentMutants } from './payment-mutants.js';
import { processingMutants } from './processing-mutants.js';
import { sendingMutants } from './sending-mutants.js';
import { settlingMutants } from './settling-mutants.js';

/** A guard of the engine, and the code without it. */
export interface Mutant {
  readonly file: string;
  /** Occurs once in the file. */
  readonly from: string;
  readonly to: string;
  /** A part of the name of scenes that notice it. @default all quick scenes are tried */
  readonly scene?: string;
  /** Why nothing goes wrong without it. */
  readonly redundant?: string;
}

export const mutants: readonly Mutant[] = [
  ...paymentMutants,
  ...settlingMutants,
  ...changeMutants,
  ...sendingMutants,
  ...orderMutants,
  ...processingMutants,
];
