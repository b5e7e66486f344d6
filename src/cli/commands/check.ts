import { once } from 'node:events';
import { type FileHandle, open } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckCallbackEndpointOptions, EndpointReport } from 'merchant-payments/testing';
import { describeReport, nameCheckFlags, toJUnitXml } from '../check-report.js';
import { type Call, defineCommand, flag, parsed, text, UsageError } from '../command.js';
import {
  parseHttpUrl,
  parseWholeNumber,
  requireSigningSecret,
  signatureEncodingOption,
  signingSecretOption,
  timestampUnitOption,
  wholeNumber,
} from '../option-values.js';
import { pathOf, printNote, type Terminal } from '../terminal.js';

const options = {
  'signing-secret': signingSecretOption,
  'effect-url': parsed(
    {
      value: 'url',
      help: 'The URL at which your system reports how often it acted on a payment because it is paid. It is requested by GET with referenceNumber and merchantPaymentReference, and answers a number or {"effects":1,"status":"paid"}. Default: none, the checks of effects are skipped',
    },
    parseHttpUrl,
  ),
  reference: text({
    value: 'text',
    help: 'The merchantPaymentReference of every payment, for an endpoint that accepts only existing orders. For an order per payment, {n} stands for 1, 2, 3 and so on, and {1001..} for 1001, 1002 and so on. Default: random references',
  }),
  overtaking: flag(
    'Also sends a callback with a random reference, whose order is not stored: it must not be acknowledged. For an endpoint that looks the order up.',
  ),
  tolerance: wholeNumber({
    value: 'seconds',
    help: 'The largest difference that the endpoint allows between X-Timestamp and the clock, in seconds, 2 to 86400. Default: 300',
  }),
  timeout: wholeNumber({
    value: 'ms',
    help: 'The time limit for each answer, in milliseconds. Default: 10000',
  }),
  'fail-on-skipped': flag(
    'Also exits with 1 when a check was skipped, except that of overtaking. For CI, where a skipped check should not go unnoticed.',
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
    help: 'Where to write JUnit XML, beside the report.',
  }),
};

export const check = defineCommand({
  summary: 'Finds what a callback endpoint gets wrong.',
  positionals: ['callback-url'],
  options,
  details: [
    'Checks what the endpoint accepts, what it refuses, and what it does twice. Your endpoint will process the callbacks, so use a test system. All payments are made up. Exits with 1 if a check fails, or if no callback was acknowledged.',
  ],
  examples: [
    'merchant-payments check http://127.0.0.1:3000/callbacks/payments',
    'merchant-payments check http://127.0.0.1:3000/callbacks/payments --effect-url http://127.0.0.1:3000/test/effects --junit check.xml',
  ],
  async run(call) {
    const { options: given, terminal } = call;
    const { junit } = given;
    // Before the run, so that a misspelt folder does not cost the report.
    await using file = junit === undefined ? undefined : await openForWriting(junit, terminal);
    const report = nameCheckFlags(await runChecks(call));
    await file?.writeFile(toJUnitXml(report));
    const isFailed = !report.passed || (given['fail-on-skipped'] && hasSkipped(report));
    return {
      json: report,
      lines: (layout) => describeReport(report, layout),
      code: isFailed ? 1 : 0,
    };
  },
});

const hasSkipped = ({ checks }: EndpointReport): boolean =>
  checks.some(({ id, outcome }) => outcome === 'skipped' && id !== 'overtaking');

async function openForWriting(path: string, terminal: Terminal): Promise<FileHandle> {
  return open(pathOf(terminal, path), 'w').catch(({ code }: NodeJS.ErrnoException) => {
    throw new UsageError(`--junit: writing ${path} failed with ${code}`);
  });
}

async function runChecks(call: Call<typeof options>): Promise<EndpointReport> {
  const url = parseHttpUrl('<callback-url>', call.words[0] ?? '');
  const checkOptions = toCheckOptions(call);
  const { checkCallbackEndpoint } = await import('merchant-payments/testing');
  await waitUntilListening(url, call);
  return checkCallbackEndpoint(url, checkOptions);
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
): Promise<void> {
  if (!waitMs) return;
  printNote(terminal, `waiting until something listens at ${url.host}`);
  if (await isListeningWithin(url, waitMs)) return;
  throw new Error(`nothing listened at ${url.host} within ${waitMs / 1000} s`);
}

const RETRY_INTERVAL_MS = 100;
const MAX_CONNECT_MS = 1_000;

/**
 * Waits until something listens at the host and port of the URL. Sends nothing. Resolves with whether it
 * listened in time.
 */
async function isListeningWithin(
  { hostname, port, protocol }: URL,
  withinMs: number,
): Promise<boolean> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const end = performance.now() + withinMs;
  for (;;) {
    const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) });
    // Also after the wait has ended.
    socket.on('error', () => undefined);
    const connected = await once(socket, 'connect', {
      signal: AbortSignal.timeout(MAX_CONNECT_MS),
    }).then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (connected) return true;
    if (performance.now() + RETRY_INTERVAL_MS >= end) return false;
    await sleep(RETRY_INTERVAL_MS);
  }
}
