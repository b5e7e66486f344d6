import { InvalidOptionError } from '../errors.js';
import { readOptions } from '../protocol/options.js';
import { variables } from './credentials.js';
import {
  clientRules,
  type PaymentClientOptions,
  type ResolvedClientOptions,
  resolveClientOptions,
} from './options.js';

type Name = keyof typeof variables;
const names = Object.keys(variables) as readonly Name[];
// Valid, so that the others are checked while one is missing.
const standIns = { baseUrl: 'https://localhost', apiKey: 'unset', apiSecret: 'unset' };

/**
 * Options completed from the environment. A missing variable is not an error yet: an application may be built
 * where its secrets are not available.
 */
export class EnvironmentOptions {
  /** The base URL; empty while its variable is missing. */
  readonly baseUrl: string;
  /** Throws an InvalidOptionError that names the variables that are missing. */
  readonly resolve: () => ResolvedClientOptions;

  /** @throws {InvalidOptionError} for an option or variable that is present and invalid */
  constructor(
    overrides: Partial<PaymentClientOptions>,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    const given = readOptions(overrides, Object.keys(clientRules) as (keyof typeof clientRules)[]);
    const read = (name: Name): unknown => {
      const override = given[name];
      // Bound to the given object: a copy lacks its private fields.
      if (typeof override === 'function') return override.bind(overrides);
      return override === undefined ? env[variables[name]] || undefined : override;
    };
    const known = names.map((name) => [name, read(name)] as const);
    const complete = (toFill: (name: Name) => unknown) => {
      const required = known.map(([name, value]) => [
        name,
        value === undefined ? toFill(name) : value,
      ]);
      return resolveClientOptions({ ...given, ...Object.fromEntries(required) });
    };
    const checked = complete((name) => standIns[name]);
    const isMissing = (name: Name) =>
      known.some(([one, value]) => one === name && value === undefined);
    this.baseUrl = isMissing('baseUrl') ? '' : checked.baseUrl.href;
    // Only missing variables are read later; those present now stay in force if the environment changes.
    this.resolve = () => {
      if (!names.some(isMissing)) return checked;
      assertNoneMissing(names.filter((name) => isMissing(name) && read(name) === undefined));
      return complete(read);
    };
  }
}

/** @throws {InvalidOptionError} naming all that is missing, so that one look at the environment is enough */
function assertNoneMissing(missing: readonly Name[]): void {
  const [first] = missing;
  if (first === undefined) return;
  const are = missing.length === 1 ? 'is' : 'are';
  const toSet = missing.map((name) => variables[name]).join(', ');
  const all = missing.join(', ');
  throw new InvalidOptionError(
    first,
    `${all} ${are} missing; set ${toSet}, or pass ${all} to PaymentClient.fromEnv()`,
  );
}
