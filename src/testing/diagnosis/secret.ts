import { createSecretKey, KeyObject } from 'node:crypto';
import type { SigningSecret } from '../../callback/options.js';
import type { CallbackFinding } from './diagnosis.js';

/** A key that may have made the signature. */
export interface KeyReading {
  readonly key: KeyObject;
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

const edgeSpaceIsKey: CallbackFinding = {
  code: 'secret-edge-space',
  message:
    'The signing secret has white space around it, and the signature was made with that white space.',
  remedy: 'Pass it as bytes, which are used as they are: signingSecret: Buffer.from(secret).',
};

const quoted: CallbackFinding = {
  code: 'secret-quoted',
  message: 'The signing secret has quotes around it that are not part of it.',
  remedy:
    'Remove them where the secret is set: docker --env-file and Kubernetes keep quotes that a shell or dotenv removes.',
};

/** For a mismatch that neither the body nor the headers explain. */
export function otherSecret(secretCount: number, tried: readonly string[]): CallbackFinding {
  const made =
    secretCount === 1
      ? 'a secret other than the signing secret'
      : `none of the ${secretCount} signing secrets`;
  return {
    code: 'secret-other',
    message: `The signature was made with ${made}, the callback is forged, or its body was parsed and serialized again in an unknown way: it is a payment status record, and no known change to it explains the mismatch. Do not act on this callback.`,
    remedy:
      'Compare the signing secret with that of the account and environment (test or live) that sent this callback.',
    tried,
  };
}

/** Returns the keys that the given secrets may represent. */
export function listKeyReadings(secrets: readonly SigningSecret[]): readonly KeyReading[] {
  return secrets.flatMap((secret, secretIndex) => {
    const bytes = Buffer.from(
      secret instanceof KeyObject ? secret.export() : (secret as string | Uint8Array),
    );
    // verifyCallback refuses white space around a secret, so this reading is a finding too.
    const given = { bytes, findings: hasEdgeSpace(secret) ? [edgeSpaceIsKey] : [] };
    return [given, ...listOtherReadings(bytes)]
      .filter((reading) => reading.bytes.byteLength > 0)
      .map((reading) => ({
        key: createSecretKey(reading.bytes),
        secretIndex,
        findings: reading.findings,
      }));
  });
}

/** Whether a secret has white space around it, which `verifyCallback` refuses. */
export function hasEdgeSpace(secret: SigningSecret): secret is string {
  return typeof secret === 'string' && secret.trim() !== secret;
}

interface BytesReading {
  readonly bytes: Buffer;
  readonly findings: readonly CallbackFinding[];
}

function listOtherReadings(bytes: Buffer): readonly BytesReading[] {
  const text = bytes.toString();
  const trimmed = text.trim();
  const unquoted = trimmed.replace(/^(["'`])(.*)\1$/s, '$2');
  const edge = trimmed === text ? [] : [edgeSpace];
  const others: BytesReading[] = [];
  if (trimmed !== text) others.push({ bytes: Buffer.from(trimmed), findings: edge });
  if (unquoted !== trimmed) {
    others.push({ bytes: Buffer.from(unquoted), findings: [...edge, quoted] });
  }
  return others;
}
