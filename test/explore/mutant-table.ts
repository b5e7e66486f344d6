import { changeMutants } from './change-mutants.js';
import type { Mutant } from './mutant.js';
import { orderMutants } from './order-mutants.js';
import { paymentMutants } from './payment-mutants.js';
import { processingMutants } from './processing-mutants.js';
import { sendingMutants } from './sending-mutants.js';
import { settlingMutants } from './settling-mutants.js';

export const mutants: readonly Mutant[] = [
  ...paymentMutants,
  ...settlingMutants,
  ...changeMutants,
  ...sendingMutants,
  ...orderMutants,
  ...processingMutants,
];
