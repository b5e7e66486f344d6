import { InvalidOptionError } from '../errors.js';
import { readOptions } from '../protocol/options.js';
import { fieldOf } from '../protocol/own-fields.js';
import { variables } from './credentials.js';
import {
  clientRules,
  type PaymentClientOptions,
  type ResolvedClientOptions,
  resolveClientOptions,
} from './options.js';

/**
 * Options completed from the environment. A missing variable is not an error yet: an application may be built
 * where its secrets are not available.
 */
export class EnvironmentOptions {
  /** The base URL; empty while its variable is missing. */
  readonly baseUrl: string;
  readonly #resolve: () => ResolvedClientOptions;

  /** @throws {InvalidOptionError} for an option or variable that is present and invalid */
  constructor(
    overrides: Partial<PaymentClientOptions>,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    const given = readOptions(overrides, Object.keys(clientRules) as (keyof typeof clientRules)[]);
    const read = (option: keyof typeof variables): string | undefined => {
      const override = given[option];
      // Bound to the given object: a copy lacks its private fields.
      if (typeof override === 'function') return override.bind(overrides);
      if (override !== undefined) return override as string;
      return (fieldOf(env, variables[option]) as string | undefined) || undefined;
    };
    const readAll = () => ({
      baseUrl: read('baseUrl'),
      apiKey: read('apiKey'),
      apiSecret: read('apiSecret'),
    });
    const known = readAll();
    const present = Object.entries(known).filter(([, value]) => value !== undefined);
    const complete = (missing: typeof known) =>
      ({ ...given, ...missing, ...Object.fromEntries(present) }) as PaymentClientOptions;
    const checked = resolveClientOptions(
      complete({ baseUrl: 'https://localhost', apiKey: 'unset', apiSecret: 'unset' }),
    );
    this.baseUrl = known.baseUrl === undefined ? '' : checked.baseUrl.href;
    // Only missing variables are read later; those present now stay in force if the environment changes.
    const isComplete = present.length === Object.keys(known).length;
    this.#resolve = isComplete
      ? () => checked
      : () => resolveClientOptions(complete(assertPresent(readAll())));
  }

  /** @throws {InvalidOptionError} naming the variable that is missing */
  resolve(): ResolvedClientOptions {
    return this.#resolve();
  }
}

function assertPresent<Found extends Record<keyof typeof variables, string | undefined>>(
  found: Found,
): Found {
  for (const option of Object.keys(variables) as (keyof typeof variables)[]) {
    if (found[option] !== undefined) continue;
    const message = `${option} is missing; set ${variables[option]}, or pass ${option} to PaymentClient.fromEnv()`;
    throw new InvalidOptionError(option, message);
  }
  return found;
}
