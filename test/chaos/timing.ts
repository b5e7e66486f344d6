/**
 * The Redis inbox's lease: how long the payments of a killed process stay busy. Far longer than the
 * work takes on a loaded machine, far shorter than the service goes on trying.
 */
export const LEASE_MS = 2_000;

/** How long the Postgres and the MySQL inbox let a callback wait for another of its payment. */
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
