import { stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CheckCallbackEndpointOptions, EndpointReport } from 'merchant-payments/testing';
import { readSwitch, readText, requirePositionals } from '../arguments.js';
import { createPaint } from '../colors.js';
import { type Arguments, type Command, type Terminal, UsageError } from '../command.js';
import { interruptible } from '../interruption.js';
import { isListeningWithin } from '../listening.js';
import { parseHttpUrl, parseOneOf, parseWholeNumber } from '../option-values.js';
import { printJson, printLine, printNote, wantsJson } from '../output.js';
import { describeCheck, describeReport } from '../report/check-text.js';
import { toJUnitXml } from '../report/junit.js';
import { reportWidth } from '../report/wrap.js';
import { readSigningSecret, signingSecretOption } from '../signing-secret.js';

const LONGEST_TIMER_MS = 2_147_483_647;

export const command: Command = {
  name: 'check',
  summary:
    'Checks a callback endpoint: what it accepts, refuses, and does twice. Exit code 1 when a check failed.',
  positionals: '<callback-url>',
  options: {
    'signing-secret': signingSecretOption,
    'effect-url': {
      type: 'string',
      value: 'url',
      help: 'Where your system tells how often it acted on a payment, for GET with referenceNumber and merchantPaymentReference: a number, or {"effects":1,"status":"paid"}. Without it the checks of effects are skipped.',
    },
    reference: {
      type: 'string',
      value: 'text',
      help: 'The merchantPaymentReference of every payment, for an endpoint that takes existing orders only. Default: made up ones',
    },
    overtaking: {
      type: 'boolean',
      help: 'Sends a callback too whose order is not stored, with a made up reference, which must not be acknowledged. For an endpoint that looks the order up.',
    },
    tolerance: {
      type: 'string',
      value: 'seconds',
      help: 'How far X-Timestamp may lie from the clock, in seconds, 2 to 86400. Default: 300',
    },
    timeout: {
      type: 'string',
      value: 'ms',
      help: 'How long to wait for each answer, in milliseconds. Default: 10000',
    },
    'acknowledge-within': {
      type: 'string',
      value: 'ms',
      help: 'Within how many milliseconds a callback must be acknowledged. Default: 5000',
    },
    'effects-within': {
      type: 'string',
      value: 'ms',
      help: 'How long after the answer an effect may take to show, in milliseconds. Default: 1000',
    },
    'large-body-bytes': {
      type: 'string',
      value: 'n',
      help: 'The size of the body that must be refused, 4096 to 268435456. Default: 8388608',
    },
    'signature-encoding': {
      type: 'string',
      value: 'hex|base64|base64url',
      help: 'Encoding of the signature. Default: hex',
    },
    'timestamp-unit': {
      type: 'string',
      value: 'seconds|milliseconds',
      help: 'Unit of X-Timestamp. Default: seconds',
    },
    wait: {
      type: 'string',
      value: 'seconds',
      help: 'How long to wait until something listens at the address, in seconds, up to 3600: for an application that is just being started. Default: 0',
    },
    junit: {
      type: 'string',
      value: 'file',
      help: 'Writes JUnit XML to a file; - for standard output, instead of the report.',
    },
  },
  details: [
    'The endpoint acts on these callbacks: run it against a test system. Every payment is made up.',
  ],
  examples: [
    'merchant-payments check http://127.0.0.1:3000/callbacks/payments',
    'merchant-payments check http://127.0.0.1:3000/callbacks/payments --effect-url http://127.0.0.1:3000/test/effects --junit check.xml',
  ],
  async run(given, terminal) {
    const [address = ''] = requirePositionals(given, 'callback-url');
    const url = parseHttpUrl('<callback-url>', address);
    const options = readOptions(given, terminal);
    const junit = readText(given, 'junit');
    if (junit === '-' && wantsJson(given)) {
      throw new UsageError('--json and --junit - both take standard output: give --junit a file');
    }
    if (junit !== undefined && junit !== '-') await assertWritable(junit);
    const waitMs = 1000 * (readNumber(given, 'wait', { min: 0, max: 3_600 }) ?? 0);
    const report = await runChecks({ url, options, waitMs, terminal });
    printReport(report, given, terminal);
    if (junit !== undefined && junit !== '-') await writeFile(junit, toJUnitXml(report));
    return report.passed ? 0 : 1;
  },
};

function readOptions(given: Arguments, terminal: Terminal): CheckCallbackEndpointOptions {
  const effectUrl = readText(given, 'effect-url');
  const milliseconds = { min: 1, max: LONGEST_TIMER_MS };
  return {
    signingSecret: readSigningSecret(given, terminal),
    effectUrl: effectUrl === undefined ? undefined : parseHttpUrl('--effect-url', effectUrl),
    merchantPaymentReference: readReference(given),
    overtaking: readSwitch(given, 'overtaking'),
    toleranceSeconds: readNumber(given, 'tolerance', { min: 2, max: 86_400 }),
    timeoutMs: readNumber(given, 'timeout', milliseconds),
    acknowledgeWithinMs: readNumber(given, 'acknowledge-within', milliseconds),
    effectsWithinMs: readNumber(given, 'effects-within', { ...milliseconds, min: 0 }),
    largeBodyBytes: readNumber(given, 'large-body-bytes', { min: 4_096, max: 268_435_456 }),
    signatureEncoding: parseOneOf(
      '--signature-encoding',
      readText(given, 'signature-encoding') ?? 'hex',
      ['hex', 'base64', 'base64url'],
    ),
    timestampUnit: parseOneOf('--timestamp-unit', readText(given, 'timestamp-unit') ?? 'seconds', [
      'seconds',
      'milliseconds',
    ]),
  };
}

function readReference(given: Arguments): string | undefined {
  const reference = readText(given, 'reference');
  if (reference?.trim() === '') throw new UsageError('--reference must not be blank');
  return reference;
}

function readNumber(
  given: Arguments,
  name: string,
  range: { readonly min: number; readonly max: number },
): number | undefined {
  const text = readText(given, name);
  return text === undefined ? undefined : parseWholeNumber(`--${name}`, text, range);
}

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

interface Run {
  readonly url: URL;
  readonly options: CheckCallbackEndpointOptions;
  readonly waitMs: number;
  readonly terminal: Terminal;
}

async function runChecks({ url, options, waitMs, terminal }: Run): Promise<EndpointReport> {
  const { checkCallbackEndpoint } = await import('merchant-payments/testing');
  const paint = createPaint(terminal.stderr);
  let ended = 0;
  return interruptible(async (signal) => {
    try {
      if (waitMs > 0) await waitUntilListening({ url, waitMs, terminal, signal });
      return await checkCallbackEndpoint(url, {
        ...options,
        signal,
        onCheck: (check) => {
          ended += 1;
          printNote(terminal, describeCheck(check, paint));
        },
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new Error(`the check was aborted after ${ended} checks; there is no report`);
    }
  });
}

interface Waiting extends Pick<Run, 'url' | 'waitMs' | 'terminal'> {
  readonly signal: AbortSignal;
}

async function waitUntilListening({ url, waitMs, terminal, signal }: Waiting): Promise<void> {
  printNote(terminal, `waiting until something listens at ${url.host}`);
  if (await isListeningWithin(url, waitMs, signal)) return;
  throw new Error(`nothing listened at ${url.host} within ${waitMs / 1000} s`);
}

function printReport(report: EndpointReport, given: Arguments, terminal: Terminal): void {
  const { stdout } = terminal;
  if (readText(given, 'junit') === '-') {
    stdout.write(toJUnitXml(report));
  } else if (wantsJson(given)) {
    printJson(terminal, report);
  } else {
    const layout = { width: reportWidth(stdout), paint: createPaint(stdout) };
    for (const line of describeReport(report, layout)) printLine(terminal, line);
  }
}
