import { constants, existsSync } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { plainJson, plainText } from '../../protocol/plain-text.js';
import { invalidCases } from '../../protocol/service-profile.js';
import {
  type Call,
  defineCommand,
  flag,
  list,
  parsed,
  text,
  UsageError,
  withDefault,
} from '../command.js';
import { receiveCallbacks } from '../discovery/callbacks.js';
import {
  type Discovered,
  ProbeFailure,
  discover as runDiscovery,
  type Target,
} from '../discovery/discover.js';
import { type Drift, findDrift } from '../discovery/profile.js';
import { withoutCredentials } from '../environment.js';
import {
  parseCurrency,
  parseDuration,
  parseExactDecimal,
  portOption,
  readFields,
  readProfile,
  requireSigningSecret,
  signingSecretOption,
  timeoutOption,
} from '../option-values.js';
import { interruptible, pathOf, printNote } from '../terminal.js';

const LONGEST_WAIT_MS = 3_600_000;

const options = {
  'base-url': text({
    value: 'url',
    help: 'The address of the service, a sandbox. Default: MERCHANT_PAYMENTS_BASE_URL; a .env can name another machine only with --dotenv',
  }),
  yes: flag('Creates the payments without asking. Required where there is no terminal to ask.'),
  output: text({
    value: 'file',
    help: 'The file to write the profile to, which must not exist yet. Default: none, the profile is only printed',
  }),
  profile: text({
    value: 'file',
    help: 'An earlier profile. Lists what has changed since; exits with 1 if anything has.',
  }),
  listen: portOption(
    'The port to receive callbacks at, on any path; 0 picks a free one. Only this machine reaches it, so the callback URL of the account must lead here by a tunnel. Default: none, nothing is learned about callbacks',
  ),
  wait: withDefault(
    parsed(
      {
        value: 'duration',
        help: 'How long to wait for a callback, and again for its retry, such as 90s; up to 1h. Default: 60s',
      },
      (name, given) => parseDuration(name, given, LONGEST_WAIT_MS),
    ),
    60_000,
  ),
  'signing-secret': signingSecretOption,
  amount: withDefault(
    parsed(
      { value: 'number', help: 'The amount of each payment. Default: 100' },
      parseExactDecimal,
    ),
    100,
  ),
  currency: withDefault(
    parsed({ value: 'code', help: 'The currency of each payment. Default: EUR' }, parseCurrency),
    'EUR',
  ),
  field: list({
    value: 'name=value',
    help: 'An additional field of each creation. The value is JSON, or text if it is not JSON.',
  }),
  timeout: timeoutOption(30_000),
};

export const discover = defineCommand({
  summary: 'Learns from a sandbox what the interface leaves open.',
  options,
  details: [
    'Writes what it learns as a profile for the mock. Creates payments, with the credentials in MERCHANT_PAYMENTS_API_KEY and MERCHANT_PAYMENTS_API_SECRET: one in any case, and one more for each request that should be refused but is not. It prints what it is about to create, and asks unless --yes is given. Run it on a sandbox.',
    '',
    'With --listen, change the status of the payment when asked to. The first callback is answered 503, to see its retry. So are callbacks of other payments, so that the service retries them.',
    '',
    'The profile has no secrets, and no values of the answers except the status of the payment and the codes of errors.',
  ],
  examples: [
    'merchant-payments discover --base-url https://sandbox.example --output service-profile.json',
    'merchant-payments discover --base-url https://sandbox.example --listen 3000 --yes --json',
    'merchant-payments discover --base-url https://sandbox.example --profile service-profile.json --yes',
  ],
  async run(call) {
    const { options: given, terminal } = call;
    const known =
      given.profile === undefined ? undefined : await readProfile(given.profile, terminal);
    const { output } = given;
    // It would be overwritten.
    if (output !== undefined && existsSync(pathOf(terminal, output))) {
      throw new UsageError(
        `--output: ${output} exists: compare with it by --profile, or give another file`,
      );
    }
    if (output !== undefined) await assertWritable(output, terminal);
    const prefix = `discover-${crypto.randomUUID().slice(0, 8)}`;
    const target = await readTarget(call, prefix);
    const signingSecret =
      given.listen === undefined
        ? undefined
        : requireSigningSecret(given['signing-secret'], terminal);
    const clean = <Said>(said: Said): Said =>
      withoutCredentials(said, { ...target, signingSecret });
    await askConsent(target, call);
    const found = await interruptible(terminal, async (signal) => {
      await using callbacks =
        given.listen === undefined || signingSecret === undefined
          ? undefined
          : await receiveCallbacks({ port: given.listen, signingSecret, prefix });
      if (callbacks !== undefined) printNote(terminal, `receiving callbacks at ${callbacks.url}`);
      return await runDiscovery({
        target: { ...target, signal },
        callbacks,
        waitMs: given.wait,
        onStep: (step) => printNote(terminal, plainText(step)),
      }).catch((error: unknown) => {
        if (!(error instanceof ProbeFailure)) throw error;
        const created = `payments may have been created, with references that begin with ${prefix}`;
        throw new Error(clean(`${error.message}; ${created}`));
      });
    });
    const profile = clean(found.profile);
    if (output !== undefined) {
      await writeFile(pathOf(terminal, output), `${plainJson(profile, 2)}\n`, { flag: 'wx' });
    }
    const drift = known && findDrift(known, profile);
    return {
      json: { profile, created: found.created, ...(drift && { drift }) },
      lines: () => drift?.map(describeDrift) ?? plainJson(profile, 2).split('\n'),
      note: describeEnd(found, { drift, output }),
      code: drift !== undefined && drift.length > 0 ? 1 : 0,
    };
  },
});

/** @throws {UsageError} before anything is created, since the profile could not be kept */
async function assertWritable(output: string, terminal: DiscoverCall['terminal']): Promise<void> {
  const folder = path.dirname(pathOf(terminal, output));
  await access(folder, constants.W_OK).catch(({ code }: NodeJS.ErrnoException) => {
    throw new UsageError(`--output: writing to ${folder} failed with ${code}`);
  });
}

type DiscoverCall = Call<typeof options>;
type UnsentTarget = Omit<Target, 'signal'>;

/** @throws {UsageError} naming what is missing or invalid */
async function readTarget(
  { options: given, terminal: { env } }: DiscoverCall,
  prefix: string,
): Promise<UnsentTarget> {
  const baseUrl = given['base-url'] ?? env['MERCHANT_PAYMENTS_BASE_URL'];
  if (!baseUrl) throw new UsageError('--base-url is missing: give the address of a sandbox');
  const [apiKey, apiSecret] = ['API_KEY', 'API_SECRET'].map((name) => {
    const value = env[`MERCHANT_PAYMENTS_${name}`];
    if (value) return value;
    throw new UsageError(
      `MERCHANT_PAYMENTS_${name} is not set: set it in the environment or in .env, or give --dotenv`,
    );
  }) as [string, string];
  const flagOfField = {
    merchantPaymentReference: 'discover itself',
    amount: '--amount',
    currency: '--currency',
  };
  const { PaymentClient } = await import('merchant-payments');
  // Refuses what the client refuses, such as http to another machine.
  await using client = new PaymentClient({ baseUrl, apiKey, apiSecret });
  return {
    baseUrl: client.toJSON().baseUrl,
    apiKey,
    apiSecret,
    creation: {
      amount: given.amount,
      currency: given.currency,
      ...readFields('--field', given.field, { flagOfField }),
    },
    prefix,
    timeoutMs: given.timeout,
  };
}

/** @throws {UsageError} without consent */
async function askConsent(
  { baseUrl, prefix, creation }: UnsentTarget,
  { options: { yes }, terminal }: DiscoverCall,
): Promise<void> {
  const count = invalidCases.length + 2;
  for (const line of [
    `discover creates payments at ${plainText(baseUrl)}, of ${creation['amount']} ${creation['currency']}, with references that begin with ${prefix}:`,
    '  1 in any case',
    '  1 more if the service accepts a second creation with the same reference',
    `  1 more for each of ${invalidCases.length} invalid requests that it accepts (${invalidCases.join(', ')})`,
    `That is ${count} at most. A payment at a live service may cost money: run this on a sandbox.`,
  ]) {
    printNote(terminal, line);
  }
  if (yes) return;
  const { stdin, stderr } = terminal;
  if (!stdin.isTTY) {
    throw new UsageError('nothing was sent: there is no terminal to ask for consent; give --yes');
  }
  const questions = createInterface({ input: stdin, output: stderr });
  const answer = await questions.question('Create them? [y/N] ').finally(() => questions.close());
  if (!/^y(?:es)?$/i.test(answer.trim()))
    throw new UsageError('nothing was sent: you did not agree');
}

function describeDrift({ point, before, now }: Drift): string {
  const show = (value: unknown) => (value === undefined ? 'nothing' : plainJson(value));
  return plainText(`${point}: was ${show(before)}, is ${show(now)}`);
}

function describeEnd(
  { created, profile }: Discovered,
  { drift, output }: { drift: readonly Drift[] | undefined; output: string | undefined },
): string {
  const missing = Object.entries(profile.notLearned);
  return [
    `created: ${created.join(', ')}`,
    ...missing.map(([point, why]) => `not learned: ${point}: ${why}`),
    ...(drift?.length === 0 ? ['the service matches the profile'] : []),
    ...(output === undefined ? [] : [`the profile was written to ${output}`]),
  ].join('\n');
}
