import type { VerifyCallbackOptions } from 'merchant-payments/callback';
import type { CallbackDiagnosis, CallbackFinding } from 'merchant-payments/testing';
import { plainText } from '../../protocol/plain-text.js';
import { captureOptions, readCapture } from '../capture.js';
import { type Call, defineCommand, parsed } from '../command.js';
import { type Layout, labelledLines, wrapText } from '../layout.js';
import { parseInstant } from '../option-values.js';
import { printNote } from '../output.js';
import {
  choice,
  requireSigningSecret,
  signingSecretsOption,
  timestampUnitOption,
  wholeNumber,
} from '../shared-options.js';

const options = {
  ...captureOptions,
  'signing-secret': signingSecretsOption,
  tolerance: wholeNumber({
    value: 'seconds',
    help: 'The largest difference allowed between X-Timestamp and the clock, in seconds. Default: 300',
    sets: 'toleranceSeconds',
  }),
  'signature-encoding': choice('The encoding of the signature.', [
    'auto',
    'hex',
    'base64',
    'base64url',
  ]),
  'timestamp-unit': timestampUnitOption,
  at: parsed(
    {
      value: 'time',
      help: 'When the callback was received: Unix seconds, or ISO 8601 with an offset. Default: now',
    },
    parseInstant,
  ),
};

export const verify = defineCommand({
  name: 'callback verify',
  summary: 'Verifies a captured callback, and explains what is wrong with it and what to do.',
  positionals: ['[-]'],
  checksWords: true,
  options,
  details: ['With -, or without any option, it reads an HTTP message or JSON from standard input.'],
  examples: [
    'merchant-payments callback verify --http-file callback.http --at 2026-01-31T12:00:00Z',
    'merchant-payments callback sign --json | merchant-payments callback verify',
  ],
  async run(call) {
    const { terminal } = call;
    const verifyOptions = toVerifyOptions(call);
    const { request, notes } = await readCapture(call);
    for (const note of notes) printNote(terminal, `note: ${plainText(note)}`);
    const { diagnoseCallback } = await import('merchant-payments/testing');
    const diagnosis = nameFindingFlags(diagnoseCallback(request, verifyOptions));
    const secretCount = call.options['signing-secret'].length;
    return {
      json: diagnosis,
      lines: (layout) => describeDiagnosis(diagnosis, layout, secretCount),
      code: diagnosis.verified ? 0 : 1,
    };
  },
});

function toVerifyOptions({
  options: given,
  terminal,
}: Call<typeof options>): VerifyCallbackOptions {
  const { at: nowMs, 'signing-secret': secrets } = given;
  return {
    signingSecret: secrets.length > 1 ? secrets : requireSigningSecret(secrets[0], terminal),
    toleranceSeconds: given.tolerance,
    signatureEncoding: given['signature-encoding'],
    timestampUnit: given['timestamp-unit'],
    now: nowMs === undefined ? undefined : () => nowMs,
  };
}

/** Remedies on the command line for findings that an option fixes. */
const REMEDIES = {
  signatureEncoding: (value = '') => `Give --signature-encoding ${value}.`,
  timestampUnit: (value = '') => `If the service sends ${value}, give --timestamp-unit ${value}.`,
  now: () => 'For a captured callback, give the time it was received: --at <time>.',
} as const;

/** Names flags instead of options in the remedies. */
function nameFindingFlags(diagnosis: CallbackDiagnosis): CallbackDiagnosis {
  const findings = diagnosis.findings.map((finding) => {
    if (finding.option === undefined) return finding;
    const { name, value } = finding.option;
    return { ...finding, remedy: REMEDIES[name](value) };
  });
  return { ...diagnosis, findings };
}

/** Describes a diagnosis for people: the verdict, the record, what is wrong and what to do. */
export function describeDiagnosis(
  diagnosis: CallbackDiagnosis,
  { width, paint }: Layout,
  /** How many signing secrets were given; with one, its number is not shown. */
  secretCount: number,
): string[] {
  const { verified, error, findings } = diagnosis;
  const verdict = verified
    ? paint('green', 'verified: the callback is authentic, fresh, and a status record')
    : paint('red', `refused with ${error?.code}`);
  // The first finding says the same, with a remedy.
  const reason =
    error === undefined || findings.length > 0 ? [] : wrapText(plainText(error.message), width);
  return [
    verdict,
    ...reason,
    ...describeSignature(diagnosis, width, secretCount),
    ...describePayment(diagnosis, width),
    ...findings.flatMap((finding) => describeFinding(finding, { width, paint })),
  ];
}

function describeSignature(
  { signature, secretIndex }: CallbackDiagnosis,
  width: number,
  secretCount: number,
): string[] {
  const isNamed = secretIndex !== undefined && secretCount > 1;
  const which = isNamed ? `, with signing secret ${secretIndex + 1}` : '';
  const text = {
    right: `matches this callback${which}`,
    explained: `matches this callback${which}, once the findings below are fixed`,
    unexplained: 'does not match, and nothing that was tried explains it',
    missing: 'missing',
  }[signature];
  return labelledLines('  signature  ', text, width);
}

function describePayment({ payment, verified }: CallbackDiagnosis, width: number): string[] {
  if (payment === undefined) return [];
  const warning = verified ? '' : ' (authentic, but refused: look at it, do not act on it)';
  const { status, merchantPaymentReference, referenceNumber, updatedAt } = payment;
  return [
    ['  status     ', `${status}${warning}`],
    ['  reference  ', merchantPaymentReference],
    ['  number     ', referenceNumber],
    ['  updated    ', updatedAt],
  ].flatMap(([label = '', text = '']) => labelledLines(label, plainText(text), width));
}

function describeFinding(
  { code, message, remedy, tried }: CallbackFinding,
  { width, paint }: Layout,
): string[] {
  return [
    '',
    paint('yellow', code),
    ...labelledLines('  seen  ', plainText(message), width),
    ...labelledLines('  fix   ', plainText(remedy), width),
    ...(tried === undefined ? [] : labelledLines('  tried ', plainText(tried.join('; ')), width)),
  ];
}
