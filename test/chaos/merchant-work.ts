import { setTimeout as pause } from 'node:timers/promises';
import { SLOW_WORK_MS } from './timing.js';

/** A status change, as a merchant's function writes it. */
export interface OrderChange {
  readonly key: string;
  /** By what the merchant knows the payment. */
  readonly reference: string;
  /** By what it knows the order. */
  readonly order: string;
  readonly status: string;
  /** Whether its status is now the order's. */
  readonly current: boolean;
  /** Whether another payment has paid the order. */
  readonly second: boolean;
}

const LONGEST_WORK_MS = 20;

/** What happens between two writes: of each delivery anew, as one that fails must succeed once. */
export async function takeTime(key: string): Promise<void> {
  // Short for one change, long for another.
  await pause(sumOf(Buffer.from(key)) % LONGEST_WORK_MS);
  const isSlow = Math.random() < 0.05;
  if (isSlow) await pause(SLOW_WORK_MS);
  failSometimes(isSlow ? 0.3 : 0.03);
}

export function failSometimes(chance: number): void {
  if (Math.random() < chance) throw new Error('the work failed');
}

function sumOf(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum + byte, 0);
}
