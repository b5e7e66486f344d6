import type { CallbackFinding } from './diagnosis.js';

export const edgeSpace: CallbackFinding = Object.freeze({
  code: 'secret-edge-space',
  message:
    'The signing secret has white space at an edge, such as the line break at the end of a file.',
  remedy: 'Take it without that white space: secret.trim().',
});

/** For the rare key that really has the white space. */
export const edgeSpaceIsKey: CallbackFinding = Object.freeze({
  code: 'secret-edge-space',
  message:
    'The signing secret has white space at an edge, and the signature was made with that white space.',
  remedy: 'Pass it as bytes, which are taken as they are: signingSecret: Buffer.from(secret).',
});

export const quoted: CallbackFinding = Object.freeze({
  code: 'secret-quoted',
  message: 'The signing secret is given with the quotes around it: they are no part of it.',
  remedy:
    'Remove them where it is set: docker --env-file and Kubernetes keep quotes that a shell or dotenv removes.',
});

export const assignment: CallbackFinding = Object.freeze({
  code: 'secret-assignment',
  message:
    'The signing secret is given with the name of a variable before it (NAME=value): the key is the value alone.',
  remedy: 'Pass what stands after the first equals sign.',
});

export const urlEncoded: CallbackFinding = Object.freeze({
  code: 'secret-url-encoded',
  message:
    'The signing secret is URL-encoded (as in %2B and %3D): the key is the text that it stands for.',
  remedy: 'Pass it decoded: decodeURIComponent(secret).',
});

export const escapedNewlineAdded: CallbackFinding = Object.freeze({
  code: 'secret-escaped-newline',
  message: 'The signing secret ends with the two characters \\n: they are no part of it.',
  remedy: 'Remove them where it is set.',
});

export const escapedNewlineKept: CallbackFinding = Object.freeze({
  code: 'secret-escaped-newline',
  message: 'The signing secret holds the two characters \\n where the key has a line break.',
  remedy: "Turn them into line breaks where it is read: secret.replaceAll('\\\\n', '\\n').",
});

export type SecretEncoding = 'base64' | 'base64url' | 'hex';

export function notDecoded(encoding: SecretEncoding): CallbackFinding {
  return Object.freeze({
    code: 'secret-not-decoded',
    message: `The signing secret is given in ${encoding} as text, but the key is the bytes that it stands for.`,
    remedy: `Decode it to bytes: signingSecret: Buffer.from(secret, '${encoding}').`,
  });
}

export function decoded(encoding: SecretEncoding): CallbackFinding {
  return Object.freeze({
    code: 'secret-decoded',
    message: `The signing secret was decoded, but the key is its text in ${encoding}.`,
    remedy: `Pass the text as it was issued, without decoding it from ${encoding}.`,
  });
}

export type LetterCase = 'lower' | 'upper';

export function hexCase(signed: LetterCase): CallbackFinding {
  return Object.freeze({
    code: 'secret-hex-case',
    message: `The signing secret is hex with letters of the wrong case: the key is its text in ${signed} case.`,
    remedy: `Pass it in ${signed} case: secret.to${signed === 'lower' ? 'Lower' : 'Upper'}Case().`,
  });
}

export const prefixedText: CallbackFinding = Object.freeze({
  code: 'secret-prefixed',
  message:
    'The signing secret has a prefix that is no part of the key: the key is the text after it.',
  remedy: 'Pass the text after the prefix.',
});

export function prefixedBytes(encoding: SecretEncoding): CallbackFinding {
  return Object.freeze({
    code: 'secret-prefixed',
    message: `The signing secret has a prefix (as in whsec_…): the key is the bytes that the ${encoding} after it stands for.`,
    remedy: `Decode what stands after the prefix: signingSecret: Buffer.from(secret.slice(prefix.length), '${encoding}').`,
  });
}

export const binaryString: CallbackFinding = Object.freeze({
  code: 'secret-binary-string',
  message:
    'The signing secret is bytes in a string (as atob() returns them), but the key is those bytes.',
  remedy: "Pass bytes: Buffer.from(secret, 'base64') instead of atob(secret).",
});
