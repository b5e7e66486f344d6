import { InvalidOptionError } from '../errors.js';
import { assertOptionsObject, type OptionNames } from '../protocol/assert-option.js';
import { describeValue } from '../protocol/describe-value.js';
import type { CallbackReceiverOptions } from '../receiver/callback-receiver.js';

/** Options of `callbackPlugin`. */
export interface CallbackPluginOptions<Tx = undefined, Fields = unknown>
  extends CallbackReceiverOptions<Tx, Fields> {
  /** The route, from `/`, below the plugin's `prefix`. */
  path: string;
}

type OwnOption = Exclude<keyof CallbackPluginOptions, keyof CallbackReceiverOptions>;

const OWN_OPTIONS: OptionNames<Pick<CallbackPluginOptions, OwnOption>> = { path: true };

/** What the receiver does not know: the plugin's own, and Fastify's at `register`. */
export const PLUGIN_OPTIONS = {
  ...OWN_OPTIONS,
  prefix: true,
  logLevel: true,
  logSerializers: true,
} as const;

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
