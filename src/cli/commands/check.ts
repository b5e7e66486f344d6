import { stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type {
  CheckCallbackEndpointOptions,
  EndpointCheck,
  EndpointReport,
} from 'merchant-payments/testing';
import { describeCheck, describeReport, nameCheckFlags, toJUnitXml } from '../check-report.js';
import { type Call, defineCommand, flag, parsed, text, UsageError } from '../command.js';
import { textWidth } from '../layout.js';
import { isListeningWithin } from '../network.js';
import { parseHttpUrl, parseOneOf, parseWholeNumber } from '../option-values.js';
import { countOf, createPaint, pathOf, printNote, type Terminal } from '../output.js';
import { interruptible } from '../process-signals.js';
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
      help: 'The URL at which your system reports how often it acted on a payment. It is requested by GET with referenceNumber and merchantPaymentReference, and answers a number or {"effects":1,"status":"paid"}. Default: none, the checks of effects are skipped',
      sets: 'countEffects',
    },
    parseHttpUrl,
  ),
  'effect-counts': parsed(
    {
      value: 'paid|changes',
      help: 'What the effect URL counts: what happens once for a paid payment, or once for each change. With paid, an endpoint that acts on any status fails, even if the URL answers only a number. Default: either',
      sets: 'effectCounts',
    },
    (name, given) => parseOneOf(name, given, ['paid', 'changes']),
  ),
  reference: text({
    value: 'text',
    help: 'The merchantPaymentReference of every payment, for an endpoint that accepts only existing orders. For an order per payment, {n} stands for 1, 2, 3 and so on, and {1001..} for 1001, 1002 and so on. Default: random references',
    sets: 'merchantPaymentReference',
  }),
  overtaking: flag(
    'Also sends a callback with a random reference, whose order is not stored: it must not be acknowledged. For an endpoint that looks the order up.',
  ),
  tolerance: wholeNumber({
    value: 'seconds',
    help: 'The largest difference that the endpoint allows between X-Timestamp and the clock, in seconds, 2 to 86400. Default: 300',
    sets: 'toleranceSeconds',
  }),
  timeout: wholeNumber({
    value: 'ms',
    help: 'The time limit for each answer, in milliseconds. Default: 10000',
    sets: 'timeoutMs',
  }),
  'acknowledge-within': wholeNumber({
    value: 'ms',
    help: 'The time limit for an acknowledgement, in milliseconds. Default: 5000',
    sets: 'acknowledgeWithinMs',
  }),
  'effects-within': wholeNumber({
    value: 'ms',
    help: 'The time limit for an effect to show after the answer, in milliseconds. Default: 1000',
    sets: 'effectsWithinMs',
  }),
  'large-body-bytes': wholeNumber({
    value: 'n',
    help: 'The size of the body that must be refused, in bytes, 4096 to 268435456. Default: 8388608',
  }),
  'fail-on-skipped': flag(
    'Also exits with 1 when a check was skipped, except those of overtaking. For CI, where a skipped check should not go unnoticed.',
  ),
  'signature-encoding': signatureEncodingOption,
  'timestamp-unit': timestampUnitOption,
  wait: parsed(
    {
      value: 'seconds',
      help: 'How long to wait until something listens at the address, in seconds, up to 3600. For an application that is still starting. Default: 0',
    },
    (name, given) => 1000 * parseWholeNumber(name, given, { min: 0, max: 3_600 }),
  ),
  junit: text({
    value: 'file',
    help: 'Where to write JUnit XML; - for standard output, in place of the report.',
  }),
};

export const check = defineCommand({
  name: 'check',
  summary:
    'Checks a callback endpoint: what it accepts, what it refuses, and what it does twice. Exits with 1 if a check fails.',
  positionals: ['callback-url'],
  options,
  details: [
    'The endpoint acts on these callbacks, so run it against a test system. All payments are made up.',
  ],
  examples: [
    'merchant-payments check http://127.0.0.1:3000/callbacks/payments',
    'merchant-payments check http://127.0.0.1:3000/callbacks/payments --effect-url http://127.0.0.1:3000/test/effects --junit check.xml',
  ],
  async run(call) {
    const { junit, json } = call.options;
    const { stdout } = call.terminal;
    if (junit === '-' && json) {
      throw new UsageError(
        '--json and --junit - both write to standard output: give --junit a file',
      );
    }
    if (call.options['effect-counts'] !== undefined && call.options['effect-url'] === undefined) {
      throw new UsageError('--effect-counts needs --effect-url, which is missing');
    }
    if (junit !== undefined && junit !== '-') await assertWritable(junit, call.terminal);
    const report = nameCheckFlags(await runChecks(call));
    const isFailed = !report.passed || (call.options['fail-on-skipped'] && hasSkipped(report));
    if (junit !== undefined && junit !== '-')
      await writeFile(pathOf(call.terminal, junit), toJUnitXml(report));
    const code = isFailed ? 1 : 0;
    if (junit === '-') {
      stdout.write(toJUnitXml(report));
      return { json: report, code };
    }
    return {
      json: report,
      // On a terminal the failures are enough; a log needs everything.
      lines: (layout) => describeReport(report, layout, { isBrief: stdout.isTTY }),
      code,
    };
  },
});

const hasSkipped = ({ checks }: EndpointReport): boolean =>
  checks.some(({ id, outcome }) => outcome === 'skipped' && !id.startsWith('overtaking'));

/** Moves to the beginning of the line, and clears it. */
const CLEAR_LINE = '\r\u001b[K';

// Checked before the run, so that a misspelt folder does not cost the report.
async function assertWritable(path: string, terminal: Terminal): Promise<void> {
  const isFolder = async (place: string): Promise<boolean> =>
    stat(pathOf(terminal, place)).then(
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
  const ended: EndpointCheck[] = [];
  const startedAt = new Date();
  const progress = showProgress(terminal, given.json || given.junit === '-');
  return interruptible(terminal.signals, async (signal) => {
    try {
      await waitUntilListening(url, call, signal);
      return await checkCallbackEndpoint(url, {
        ...checkOptions,
        signal,
        onCheck: (one) => {
          ended.push(one);
          progress.show(one);
        },
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      progress.end();
      printNote(terminal, `the run was interrupted after ${countOf(ended.length, 'check')}`);
      return reportOf(url, ended, startedAt);
    } finally {
      progress.end();
    }
  });
}

/** The report of an interrupted run. */
function reportOf(url: URL, checks: readonly EndpointCheck[], startedAt: Date): EndpointReport {
  const count = (wanted: EndpointCheck['outcome']): number =>
    checks.filter(({ outcome }) => outcome === wanted).length;
  return {
    url: url.origin + url.pathname,
    // The other checks might have failed.
    passed: false,
    checks,
    counts: { passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
    startedAt: startedAt.toISOString(),
    durationMs: Date.now() - startedAt.getTime(),
  };
}

/**
 * Shows each check as it ends. On a terminal it rewrites one line. Elsewhere it writes a line for each, but
 * only if the report goes to another place: otherwise the log has the whole report.
 */
function showProgress(terminal: Terminal, isReportElsewhere: boolean) {
  const { stderr, env } = terminal;
  const paint = createPaint(stderr, env);
  let count = 0;
  return {
    show(check: EndpointCheck): void {
      count += 1;
      if (stderr.isTTY) {
        // Cut to the width of the terminal: a wrapped line would stay.
        const line = `${count} checked: ${describeCheck(check, (_style, text) => text)}`;
        stderr.write(`${CLEAR_LINE}${line.slice(0, textWidth(stderr) - 1)}`);
      } else if (isReportElsewhere) printNote(terminal, describeCheck(check, paint));
    },
    end(): void {
      if (stderr.isTTY) stderr.write(CLEAR_LINE);
    },
  };
}

function toCheckOptions({
  options: given,
  terminal,
}: Call<typeof options>): CheckCallbackEndpointOptions {
  return {
    signingSecret: requireSigningSecret(given['signing-secret'], terminal),
    countEffects: given['effect-url'],
    merchantPaymentReference: toReferences(given.reference),
    effectCounts: given['effect-counts'],
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

/** The number in a pattern of references; captures the first one. */
const REFERENCE_PLACE = /\{(?:n|(\d{1,15})\.\.)\}/g;

function toReferences(reference: string | undefined): string | (() => string) | undefined {
  if (reference === undefined || reference.search(REFERENCE_PLACE) < 0) return reference;
  let count = -1;
  return () => {
    count += 1;
    return reference.replaceAll(REFERENCE_PLACE, (_, start = '1') =>
      String(Number(start) + count).padStart(start.length, '0'),
    );
  };
}

async function waitUntilListening(
  url: URL,
  { options: { wait: waitMs }, terminal }: Call<typeof options>,
  signal: AbortSignal,
): Promise<void> {
  if (!waitMs) return;
  printNote(terminal, `waiting until something listens at ${url.host}`);
  if (await isListeningWithin(url, waitMs, signal)) return;
  throw new Error(`nothing listened at ${url.host} within ${waitMs / 1000} s`);
}
