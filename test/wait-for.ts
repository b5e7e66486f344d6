import { vi } from 'vitest';

/** Waits until `act` no longer throws. The limit is a guard against hanging, as for `expect.poll` in vitest.config.ts. */
export const waitFor: typeof vi.waitFor = (act, options) =>
  vi.waitFor(act, typeof options === 'number' ? options : { timeout: 60_000, ...options });
