import { onTestFinished, vi } from 'vitest';
import type { VerifiedCallback } from '../../src/callback/options.js';
import type { CallbackVerificationError } from '../../src/errors.js';
import {
  type CallbackReceiver,
  createCallbackReceiver,
  type ReceivedRequest,
} from '../../src/receiver/callback-receiver.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import type { CallbackStore, StoreContext } from '../../src/store/callback-store.js';
import {
  now,
  SECRET,
  sampleRecord,
  type sampleRequest,
  sampleRequest as signedRequest,
} from '../callback/sample-callback.js';

export interface Report {
  readonly error: unknown;
  readonly callback: VerifiedCallback | undefined;
}

export interface Scene extends CallbackReceiver {
  /** The callbacks that `onPayment` was called with. */
  readonly handled: VerifiedCallback[];
  /** What `onError` received. */
  readonly reports: Report[];
  /** What `onRejected` received. */
  readonly rejections: CallbackVerificationError[];
}

/** A receiver whose clock stands where the sample callbacks were signed. */
export function createScene<Tx = undefined>(
  options: Partial<CallbackReceiverOptions<Tx>> = {},
): Scene {
  const handled: VerifiedCallback[] = [];
  const reports: Report[] = [];
  const rejections: CallbackVerificationError[] = [];
  const receiver = createCallbackReceiver<Tx>({
    signingSecret: SECRET,
    now,
    onError: (error, callback) => void reports.push({ error, callback }),
    onRejected: (error) => void rejections.push(error),
    ...options,
    async onPayment(callback, context) {
      handled.push(callback);
      await options.onPayment?.(callback, context);
    },
  });
  return { ...receiver, handled, reports, rejections };
}

type Context = StoreContext<undefined>;

/** A store of the test's own, which may say anything. */
export function storeThat(
  process: (work: (said?: Partial<Context>) => Promise<void>) => unknown,
): CallbackStore {
  const { signal } = new AbortController();
  const context = { tx: undefined, signal, order: 'order-1001', current: true };
  return {
    process: async (_change, work) =>
      (await process((said) => work({ ...context, secondPayment: false, ...said }))) as never,
  };
}

/** Time that passes only when the test says so, until the test is over. */
export function stopTime(...toFake: 'performance'[]): void {
  vi.useFakeTimers(toFake.length > 0 ? { toFake } : {});
  onTestFinished(() => void vi.useRealTimers());
}

/** A signed POST of a record with these fields. */
export function post(
  fields: Record<string, unknown> = {},
  how: Omit<Parameters<typeof sampleRequest>[0] & object, 'body'> = {},
): ReceivedRequest {
  return postBody(JSON.stringify(sampleRecord(fields)), how);
}

/** A signed POST of any body. */
export function postBody(
  body: string | Uint8Array,
  how: Omit<Parameters<typeof sampleRequest>[0] & object, 'body'> = {},
): ReceivedRequest {
  return { method: 'POST', ...signedRequest({ ...how, body }) };
}
