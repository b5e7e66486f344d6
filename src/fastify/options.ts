import { InvalidOptionError } from '../errors.js';
import { assertOptionsObject } from '../protocol/assert-option.js';
import { describeValue } from '../protocol/describe-value.js';
import type { CallbackReceiverOptions } from '../receiver/callback-receiver.js';

/** Options of `callbackPlugin`. */
export interface CallbackPluginOptions<Tx = undefined> extends CallbackReceiverOptions<Tx> {
  /** The route, from `/`, below the plugin's `prefix`. */
  path: string;
}

/** @throws {InvalidOptionError} when `path` can't be right; the receiver checks the others */
export function assertPath(options: { readonly path: unknown }): void {
  assertOptionsObject('options', options, 'path, signingSecret and onPayment');
  const { path } = options;
  if (typeof path === 'string' && path.startsWith('/')) return;
  throw new InvalidOptionError(
    'path',
    `path must be a route that begins with a slash, such as '/callbacks/payments', but ${describeValue(path)} came`,
  );
}
