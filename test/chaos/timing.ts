/**
 * The lease of a store: how long the orders of a killed process stay busy. Far longer than the
 * work takes on a loaded machine, far shorter than the service goes on trying.
 */
export const LEASE_MS = 2_000;

/** How long the service may take to act on a request: more than the lease and than its slowest answer. */
export const LIFETIME_MS = 5_000;

/** How long the stores on Postgres and MySQL let a callback wait for another of its order. */
export const LOCK_TIMEOUT_MS = 300;

/** Longer than that. */
export const SLOW_WORK_MS = 500;

/** When the service tries again: more than a minute of it, which outlives every outage here. */
export const RETRY_SCHEDULE_MS: readonly number[] = [
  100,
  200,
  400,
  ...Array.from({ length: 80 }, () => 800),
];
