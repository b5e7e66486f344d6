import type { CallbackRequest } from 'merchant-payments/callback';
import type { VerifyCallbackOptions } from 'merchant-payments/testing';
import { readText } from '../arguments.js';
import { readCapture } from '../capture/capture-options.js';
import type { CapturedCallback } from '../capture/captured-callback.js';
import { parseInstant } from '../capture/instant.js';
import { createPaint } from '../colors.js';
import { type Arguments, type Command, type Terminal, UsageError } from '../command.js';
import { parseOneOf, parseWholeNumber } from '../option-values.js';
import { printJson, printLine, printNote, wantsJson } from '../output.js';
import { plainText } from '../plain-text.js';
import { describeDiagnosis } from '../report/diagnosis-text.js';
import { withFlags } from '../report/flag-remedy.js';
import { reportWidth } from '../report/wrap.js';
import { readSigningSecrets, signingSecretsOption } from '../signing-secret.js';

export const command: Command = {
  name: 'callback verify',
  summary: 'Verifies a captured callback, and says what is wrong with it and what to do.',
  positionals: '[-]',
  options: {
    'headers-file': {
      type: 'string',
      value: 'file',
      help: 'The headers: a line each, or JSON. With --body-file.',
    },
    'body-file': {
      type: 'string',
      value: 'file',
      help: 'The body, byte for byte. Instead of that of another capture.',
    },
    'http-file': {
      type: 'string',
      value: 'file',
      help: 'An HTTP message: headers, an empty line, the body.',
    },
    'json-file': {
      type: 'string',
      value: 'file',
      help: 'JSON with headers and rawBody or rawBodyBase64, or an AWS Lambda event.',
    },
    'signing-secret': signingSecretsOption,
    tolerance: {
      type: 'string',
      value: 'seconds',
      help: 'How far X-Timestamp may be from the clock, in seconds. Default: 300',
    },
    'signature-encoding': {
      type: 'string',
      value: 'auto|hex|base64|base64url',
      help: 'Encoding of the signature. Default: auto',
    },
    'timestamp-unit': {
      type: 'string',
      value: 'seconds|milliseconds',
      help: 'Unit of X-Timestamp. Default: seconds',
    },
    at: {
      type: 'string',
      value: 'time',
      help: 'When it was received: Unix seconds, or ISO 8601 with an offset. Default: now',
    },
  },
  details: [
    'Instead of a file, - reads standard input, as no option at all does: an HTTP message or JSON.',
  ],
  examples: [
    'merchant-payments callback verify --headers-file headers.txt --body-file body.json',
    'merchant-payments callback verify --http-file callback.http --at 2026-01-31T12:00:00Z',
    'merchant-payments callback sign --json | merchant-payments callback verify',
  ],
  async run(given, terminal) {
    const options = readOptions(given, terminal);
    const captured = await readCapture(given, terminal);
    for (const note of captured.notes) printNote(terminal, `note: ${plainText(note)}`);
    const { diagnoseCallback } = await import('merchant-payments/testing');
    const diagnosis = withFlags(diagnoseCallback(toRequest(captured), options));
    if (wantsJson(given)) {
      printJson(terminal, diagnosis);
    } else {
      const { signingSecret } = options;
      const layout = {
        secretCount: Array.isArray(signingSecret) ? signingSecret.length : 1,
        width: reportWidth(terminal.stdout),
        paint: createPaint(terminal.stdout),
      };
      for (const line of describeDiagnosis(diagnosis, layout)) printLine(terminal, line);
    }
    return diagnosis.verified ? 0 : 1;
  },
};

function readOptions(given: Arguments, terminal: Terminal): VerifyCallbackOptions {
  const tolerance = readText(given, 'tolerance');
  const at = readText(given, 'at');
  const nowMs = at === undefined ? undefined : parseInstant('--at', at);
  return {
    signingSecret: readSigningSecrets(given, terminal),
    toleranceSeconds:
      tolerance === undefined
        ? undefined
        : parseWholeNumber('--tolerance', tolerance, { min: 0, max: Number.MAX_SAFE_INTEGER }),
    signatureEncoding: parseOneOf(
      '--signature-encoding',
      readText(given, 'signature-encoding') ?? 'auto',
      ['auto', 'hex', 'base64', 'base64url'],
    ),
    timestampUnit: parseOneOf('--timestamp-unit', readText(given, 'timestamp-unit') ?? 'seconds', [
      'seconds',
      'milliseconds',
    ]),
    now: nowMs === undefined ? undefined : () => nowMs,
  };
}

function toRequest({ headers, body }: CapturedCallback): CallbackRequest {
  if (body.kind === 'none') throw new UsageError(body.remedy);
  // A parsed body is no raw body; the diagnosis explains it.
  const rawBody = body.kind === 'bytes' ? body.bytes : (body.value as string);
  return { headers, rawBody };
}
