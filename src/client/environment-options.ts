import { InvalidOptionError } from '../errors.js';
import { variables } from './credentials.js';
import {
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
  readonly #given: Partial<PaymentClientOptions>;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #checked: ResolvedClientOptions;

  /** @throws {InvalidOptionError} for an option or variable that is present and invalid */
  constructor(
    overrides: Partial<PaymentClientOptions>,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    this.#env = env;
    // A variable that is present now stays in force if the environment changes.
    this.#given = this.#withVariables(overrides);
    this.#checked = resolveClientOptions(fill(this.#given, (name) => standIns[name]));
  }

  /** The base URL; empty while its variable is missing. */
  get baseUrl(): string {
    return this.#given.baseUrl === undefined ? '' : this.#checked.baseUrl.href;
  }

  /** @throws {InvalidOptionError} naming all that is missing, so that one look at the environment is enough */
  resolve(): ResolvedClientOptions {
    if (missingIn(this.#given).length === 0) return this.#checked;
    const complete = this.#withVariables(this.#given);
    const missing = missingIn(complete);
    const [first] = missing;
    if (first === undefined) return resolveClientOptions(complete as PaymentClientOptions);
    const are = missing.length === 1 ? 'is' : 'are';
    const toSet = missing.map((name) => variables[name]).join(', ');
    const all = missing.join(', ');
    throw new InvalidOptionError(
      first,
      `${all} ${are} missing; set ${toSet}, or pass ${all} to PaymentClient.fromEnv()`,
    );
  }

  #withVariables(given: Partial<PaymentClientOptions>): Partial<PaymentClientOptions> {
    return fill(given, (name) => this.#env[variables[name]] || undefined);
  }
}

const missingIn = (given: Partial<PaymentClientOptions>): readonly Name[] =>
  names.filter((name) => given[name] === undefined);

/** A copy with values for those of the three options that are missing. */
function fill<Value>(given: Partial<PaymentClientOptions>, find: (name: Name) => Value) {
  const found = missingIn(given).map((name) => [name, find(name)]);
  return { ...given, ...(Object.fromEntries(found) as Record<Name, NonNullable<Value>>) };
}
