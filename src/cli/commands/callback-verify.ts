import type { CallbackRequest, VerifyCallbackOptions } from 'merchant-payments/callback';
import { captureOptions, readCapture } from '../capture.js';
import type { CapturedCallback } from '../capture-formats.js';
import { type Call, defineCommand, parsed, UsageError } from '../command.js';
import { parseInstant } from '../option-values.js';
import { plainText, printNote } from '../output.js';
import { describeDiagnosis, nameFindingFlags } from '../report-text.js';
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
    help: 'How far X-Timestamp may be from the clock, in seconds. Default: 300',
    sets: 'toleranceSeconds',
  }),
  'signature-encoding': choice('Encoding of the signature.', [
    'auto',
    'hex',
    'base64',
    'base64url',
  ]),
  'timestamp-unit': timestampUnitOption,
  at: parsed(
    {
      value: 'time',
      help: 'When it was received: Unix seconds, or ISO 8601 with an offset. Default: now',
    },
    parseInstant,
  ),
};

export const verify = defineCommand({
  name: 'callback verify',
  summary: 'Verifies a captured callback, and says what is wrong with it and what to do.',
  positionals: ['[-]'],
  checksWords: true,
  options,
  details: [
    'Instead of a file, - reads standard input, as no option at all does: an HTTP message or JSON.',
  ],
  examples: [
    'merchant-payments callback verify --headers-file headers.txt --body-file body.json',
    'merchant-payments callback verify --http-file callback.http --at 2026-01-31T12:00:00Z',
    'merchant-payments callback sign --json | merchant-payments callback verify',
  ],
  async run(call) {
    const { terminal } = call;
    const verifyOptions = toVerifyOptions(call);
    const captured = await readCapture(call);
    for (const note of captured.notes) printNote(terminal, `note: ${plainText(note)}`);
    const { diagnoseCallback } = await import('merchant-payments/testing');
    const diagnosis = nameFindingFlags(diagnoseCallback(toRequest(captured), verifyOptions));
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

function toRequest({ headers, body }: CapturedCallback): CallbackRequest {
  if (body.kind === 'none') throw new UsageError(body.remedy);
  // A parsed body is not a raw body; the diagnosis explains it.
  const rawBody = body.kind === 'bytes' ? body.bytes : (body.value as string);
  return { headers, rawBody };
}
