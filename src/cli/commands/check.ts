import { stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CheckCallbackEndpointOptions, EndpointReport } from 'merchant-payments/testing';
import { type Call, defineCommand, flag, parsed, text, UsageError } from '../command.js';
import { toJUnitXml } from '../junit.js';
import { isListeningWithin } from '../network.js';
import { parseHttpUrl, parseWholeNumber } from '../option-values.js';
import { createPaint, printNote } from '../output.js';
import { interruptible } from '../process-signals.js';
import { describeCheck, describeReport, nameCheckFlags } from '../report-text.js';
import {
  requireSigningSecret,
  signatureEncodingOption,
  signingSecretOption,
  timestampUnitOption,
  wholeNumber,
} from '../shared-options.js';

const options = {
  'signing-secret': signingSecretOption,
  'effect-url': parsed(
    {
      value: 'url',
      help: 'Where your system says how often it acted on a payment, for GET with referenceNumber and merchantPaymentReference: a number, or {"effects":1,"status":"paid"}. Without it the checks of effects are skipped.',
      sets: 'countEffects',
    },
    parseHttpUrl,
  ),
  reference: text({
    value: 'text',
    help: 'The merchantPaymentReference of every payment, for an endpoint that takes existing orders only. {n} in it stands for 1, 2, 3 and so on: an order for each payment. Default: made up ones',
    sets: 'merchantPaymentReference',
  }),
  overtaking: flag(
    'Also sends a callback whose order is not stored, with a made up reference, which must not be acknowledged. For an endpoint that looks the order up.',
  ),
  tolerance: wholeNumber({
    value: 'seconds',
    help: 'How far X-Timestamp may lie from the clock, in seconds, 2 to 86400. Default: 300',
    sets: 'toleranceSeconds',
  }),
  timeout: wholeNumber({
    value: 'ms',
    help: 'How long to wait for each answer, in milliseconds. Default: 10000',
    sets: 'timeoutMs',
  }),
  'acknowledge-within': wholeNumber({
    value: 'ms',
    help: 'Within how many milliseconds a callback must be acknowledged. Default: 5000',
    sets: 'acknowledgeWithinMs',
  }),
  'effects-within': wholeNumber({
    value: 'ms',
    help: 'How long after the answer an effect may take to show, in milliseconds. Default: 1000',
    sets: 'effectsWithinMs',
  }),
  'large-body-bytes': wholeNumber({
    value: 'n',
    help: 'The size of the body that must be refused, 4096 to 268435456. Default: 8388608',
  }),
  'signature-encoding': signatureEncodingOption,
  'timestamp-unit': timestampUnitOption,
  wait: parsed(
    {
      value: 'seconds',
      help: 'How long to wait until something listens at the address, in seconds, up to 3600: for an application that is just being started. Default: 0',
    },
    (name, given) => 1000 * parseWholeNumber(name, given, { min: 0, max: 3_600 }),
  ),
  junit: text({
    value: 'file',
    help: 'Writes JUnit XML to a file; - for standard output, instead of the report.',
  }),
};

export const check = defineCommand({
  name: 'check',
  summary:
    'Checks a callback endpoint: what it accepts, refuses, and does twice. Exit code 1 when a check failed.',
  positionals: ['callback-url'],
  options,
  details: [
    'The endpoint acts on these callbacks: run it against a test system. Every payment is made up.',
  ],
  examples: [
    'merchant-payments check http://127.0.0.1:3000/callbacks/payments',
    'merchant-payments check http://127.0.0.1:3000/callbacks/payments --effect-url http://127.0.0.1:3000/test/effects --junit check.xml',
  ],
  async run(call) {
    const { junit, json } = call.options;
    const { stdout, stderr } = call.terminal;
    if (junit === '-' && json) {
      throw new UsageError('--json and --junit - both take standard output: give --junit a file');
    }
    if (junit !== undefined && junit !== '-') await assertWritable(junit);
    const report = nameCheckFlags(await runChecks(call));
    if (junit !== undefined && junit !== '-') await writeFile(junit, toJUnitXml(report));
    const code = report.passed ? 0 : 1;
    if (junit === '-') {
      stdout.write(toJUnitXml(report));
      return { json: report, code };
    }
    // On a terminal each check was shown as it ended.
    const hasShownChecks = stdout.isTTY && stderr.isTTY;
    return {
      json: report,
      lines: (layout) => describeReport(report, layout, { hasShownChecks }),
      code,
    };
  },
});

// Before the run: its report should not be lost to a misspelt folder.
async function assertWritable(path: string): Promise<void> {
  const isFolder = async (place: string): Promise<boolean> =>
    stat(place).then(
      (found) => found.isDirectory(),
      () => false,
    );
  if (!(await isFolder(dirname(path)))) {
    throw new UsageError(`--junit: there is no folder ${dirname(path)}`);
  }
  if (await isFolder(path)) throw new UsageError(`--junit must be a file, but ${path} is a folder`);
}

async function runChecks(call: Call<typeof options>): Promise<EndpointReport> {
  const { options: given, terminal, words } = call;
  const url = parseHttpUrl('<callback-url>', words[0] ?? '');
  const checkOptions = toCheckOptions(call);
  const { checkCallbackEndpoint } = await import('merchant-payments/testing');
  const paint = createPaint(terminal.stderr);
  const ended: string[] = [];
  // In a log the report follows in whole, and standard error may be in the same log.
  const isShownAtOnce = terminal.stderr.isTTY || given.json || given.junit === '-';
  return interruptible(async (signal) => {
    try {
      if (given.wait) await waitUntilListening(url, given.wait, { terminal, signal });
      return await checkCallbackEndpoint(url, {
        ...checkOptions,
        signal,
        onCheck: (one) => {
          const line = describeCheck(one, paint);
          ended.push(line);
          if (isShownAtOnce) printNote(terminal, line);
        },
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      if (!isShownAtOnce) for (const line of ended) printNote(terminal, line);
      throw new Error(`the check was aborted after ${ended.length} checks; there is no report`);
    }
  });
}

function toCheckOptions({
  options: given,
  terminal,
}: Call<typeof options>): CheckCallbackEndpointOptions {
  return {
    signingSecret: requireSigningSecret(given['signing-secret'], terminal),
    countEffects: given['effect-url'],
    merchantPaymentReference: toReferences(given.reference),
    overtaking: given.overtaking,
    toleranceSeconds: given.tolerance,
    timeoutMs: given.timeout,
    acknowledgeWithinMs: given['acknowledge-within'],
    effectsWithinMs: given['effects-within'],
    largeBodyBytes: given['large-body-bytes'],
    signatureEncoding: given['signature-encoding'],
    timestampUnit: given['timestamp-unit'],
  };
}

function toReferences(reference: string | undefined): string | (() => string) | undefined {
  if (!reference?.includes('{n}')) return reference;
  let count = 0;
  return () => {
    count += 1;
    return reference.replaceAll('{n}', String(count));
  };
}

async function waitUntilListening(
  url: URL,
  waitMs: number,
  { terminal, signal }: Pick<Call, 'terminal'> & { readonly signal: AbortSignal },
): Promise<void> {
  printNote(terminal, `waiting until something listens at ${url.host}`);
  if (await isListeningWithin(url, waitMs, signal)) return;
  throw new Error(`nothing listened at ${url.host} within ${waitMs / 1000} s`);
}
