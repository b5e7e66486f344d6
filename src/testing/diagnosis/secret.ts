import { KeyObject } from 'node:crypto';
import type { SigningSecret } from '../../callback/options.js';
import type { CallbackFinding } from './diagnosis.js';

/** A key that may have made the signature. */
export interface KeyReading {
  readonly bytes: Buffer;
  readonly secretIndex: number;
  /** How it differs from the secret as given. */
  readonly findings: readonly CallbackFinding[];
}

export const edgeSpace: CallbackFinding = {
  code: 'secret-edge-space',
  message:
    'The signing secret has white space around it, such as the newline at the end of a file.',
  remedy: 'Pass it without that white space: secret.trim().',
};

const quoted: CallbackFinding = {
  code: 'secret-quoted',
  message: 'The signing secret has quotes around it that are not part of it.',
  remedy:
    'Remove them where the secret is set: docker --env-file and Kubernetes keep quotes that a shell or dotenv removes.',
};

/** For a mismatch that neither the body nor the headers explain. */
export function otherSecret(secretCount: number): CallbackFinding {
  const made =
    secretCount === 1
      ? 'a secret other than the signing secret'
      : `none of the ${secretCount} signing secrets`;
  return {
    code: 'secret-other',
    message: `The signature was made with ${made}, the callback is forged, or its body was parsed and serialized again in an unknown way: it is a payment status record, and no known change to it explains the mismatch. Do not act on this callback.`,
    remedy:
      'Compare the signing secret with that of the account and environment (test or live) that sent this callback.',
  };
}

/** `verifyCallback` refuses a secret with white space around it. */
export const trimSecret = (secret: SigningSecret): SigningSecret =>
  typeof secret === 'string' ? secret.trim() : secret;

/** Returns the keys that the given secrets may represent: as given, without white space, without quotes. */
export function listKeyReadings(secrets: readonly SigningSecret[]): readonly KeyReading[] {
  return secrets.flatMap((secret, secretIndex) => {
    const bytes = Buffer.from(
      secret instanceof KeyObject ? secret.export() : (secret as string | Uint8Array),
    );
    const text = bytes.toString();
    const trimmed = text.trim();
    const unquoted = trimmed.replace(/^(["'`])(.*)\1$/s, '$2');
    const edge = trimmed === text ? [] : [edgeSpace];
    const readings = [
      ...(typeof secret === 'string' ? [] : [{ bytes, findings: [] }]),
      { bytes: Buffer.from(trimmed), findings: edge },
      { bytes: Buffer.from(unquoted), findings: [...edge, quoted] },
    ];
    return readings.map((reading) => ({ ...reading, secretIndex }));
  });
}
