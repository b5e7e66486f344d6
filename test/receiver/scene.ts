import type { VerifiedCallback } from '../../src/callback/options.js';
import type { CallbackVerificationError } from '../../src/errors.js';
import {
  type CallbackReceiver,
  createCallbackReceiver,
  type ReceivedRequest,
} from '../../src/receiver/callback-receiver.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import type { StoreContext } from '../../src/store/callback-store.js';
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

/** What a store of the test's own passes to the work. */
export function contextOf(): StoreContext<undefined> {
  const { signal } = new AbortController();
  return { tx: undefined, signal, order: 'order-1001', current: true, secondPayment: false };
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

/** Something that can be held until the test lets it go. */
export function createGate(): { opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
